// A page that was opened from a file may not start a worker. There, the search runs in a hidden
// frame of the page instead, behind the same interface.
if (location.protocol === "file:") {
  // The search looks for this name to find its scripts.
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        this.onmessage?.(event);
      };
      const load = (address) =>
        new Promise((loaded, failed) => {
          const script = this.inside.document.createElement("script");
          script.src = new URL(address, document.baseURI);
          script.onload = loaded;
          script.onerror = failed;
          this.inside.document.body.append(script);
        });
      this.inside.importScripts = (...addresses) =>
        addresses.reduce((before, address) => before.then(() => load(address)), Promise.resolve());
      this.ready = load(url);
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.inside.frameElement.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
