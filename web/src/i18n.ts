// The console's texts, in English and Chinese. A text may have places {0}, {1}.
import { chinese } from "./chinese";
import { english, type Word } from "./english";

export type { Word };

export type Language = "en" | "zh";

function preferred(): Language {
  const kept = localStorage.getItem("tarry.language");
  if (kept === "en" || kept === "zh") return kept;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

let current: Language = preferred();
document.documentElement.lang = current === "zh" ? "zh-CN" : "en";

export function language(): Language {
  return current;
}

export function setLanguage(to: Language): void {
  current = to;
  localStorage.setItem("tarry.language", to);
  document.documentElement.lang = to === "zh" ? "zh-CN" : "en";
}

export function t(word: Word, ...values: (string | number)[]): string {
  const text = (current === "zh" ? chinese : english)[word];
  const said = text.replace(/\{(\d)\}/g, (_, at: string) => String(values[Number(at)] ?? ""));
  return current === "zh"
    ? said
    : said.replace(/\b(?<![\d,.])1 (message|client|connection)s\b/g, "1 $1");
}
