#!/usr/bin/env python3
"""tarry completion and tarry man: the completions of each shell, and a manual page that is
well-formed.
"""

import re
import shutil
import subprocess
import unittest
from pathlib import Path

from program import PROGRAM, ProgramTest, environment

ENUMERATED = (
    ("-o ", ["json", "table"]),
    ("--output ", ["json", "table"]),
    ("push q --if-exists ", ["earlier", "keep", "later", "reject", "replace"]),
    ("queue set q --if-exists re", ["reject", "replace"]),
    ("ls q --state ", ["dead", "leased", "ready", "remembered", "scheduled"]),
    ("completion ", ["bash", "fish", "zsh"]),
)


class Completion(ProgramTest):
    def script(self, shell):
        path = self.directory / f"completion.{shell}"
        path.write_text(self.tarry("completion", shell).out)
        return path

    def run_in(self, *words):
        finished = subprocess.run(words, capture_output=True, text=True, timeout=60,
                                  env=environment(TERM="dumb",
                                                  PATH=f"{Path(PROGRAM).parent}:/usr/bin:/bin"),
                                  check=False, cwd=self.directory)
        self.assertEqual((finished.returncode, finished.stderr), (0, ""), finished)
        return sorted(finished.stdout.split())

    def in_bash(self, script, line):
        """The words that Tab offers after `tarry LINE`."""
        code = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tarry; '
                'printf "%s\\n" "${COMPREPLY[@]}"')
        return self.run_in("bash", "-c", code, "bash", str(script), "tarry", *line.split(" "))

    def help_words(self, *command):
        """The commands and flags that the help lists."""
        text = self.tarry(*command, "--help").out
        commands = re.search(r"^(?:Subc|C)ommands:\n((?:  .*\n)*)", text, re.MULTILINE)
        names = re.findall(r"^  (\w[\w-]*)", commands[1], re.MULTILINE) if commands else []
        flags = re.findall(r"^  (?:-\w,)?(--[a-z-]+)", text, re.MULTILINE)
        return sorted(names), flags

    def commands(self):
        """Every command, with its path in the tree."""
        names = self.help_words()[0]
        self.assertIn("queue", names)
        for name in names:
            below = self.help_words(name)[0]
            yield (name,)
            yield from ((name, each) for each in below)

    def test_bash(self):
        script = self.script("bash")
        self.assertEqual(self.in_bash(script, ""), self.help_words()[0])
        self.assertEqual(self.in_bash(script, "re"),
                         [name for name in self.help_words()[0] if name.startswith("re")])
        self.assertEqual(self.in_bash(script, "queue "), self.help_words("queue")[0])
        self.assertEqual(self.in_bash(script, "--store file:x queue "),
                         self.help_words("queue")[0])
        for line, offered in ENUMERATED:
            with self.subTest(line):
                self.assertEqual(self.in_bash(script, line), offered)
        # Bash splits the line like this.
        self.assertEqual(self.in_bash(script, "ls --state = dea"), ["dead"])
        self.assertEqual(self.in_bash(script, "push queue "), [])
        self.assertEqual(self.in_bash(script, "work q -- "), [])
        self.assertEqual(self.in_bash(script, "queue set q --lea"), ["--lease"])

    def test_bash_offers_every_flag(self):
        script = self.script("bash")
        for command in self.commands():
            with self.subTest(command):
                offered = self.in_bash(script, " ".join([*command, "--"]))
                for flag in (*self.help_words(*command)[1], "--store", "--output"):
                    self.assertIn(flag, offered)

    def test_every_script_names_every_command_and_flag(self):
        for shell in ("bash", "zsh", "fish"):
            text = self.script(shell).read_text()
            for command in self.commands():
                self.assertIn(" ".join(command), text)
                for flag in self.help_words(*command)[1]:
                    self.assertIn(flag.lstrip("-") if shell == "fish" else flag, text)

    @unittest.skipUnless(shutil.which("zsh"), "no zsh here")
    def test_zsh(self):
        script = self.script("zsh")
        code = ('compdef() { :; }; source "$1"; shift; words=("$@"); CURRENT=$#; '
                'PREFIX=${words[-1]}; '
                '_describe() { local -a all; all=(${(P)2}); print -l -- ${all%%:*}; }; '
                'compadd() { print -l -- ${(P)2}; }; _files() { :; }; _tarry')
        for line, offered in ((("queue ", self.help_words("queue")[0]), *ENUMERATED)):
            with self.subTest(line):
                got = self.run_in("zsh", "-fc", code, "zsh", str(script), "tarry",
                                  *line.split(" "))
                self.assertLessEqual(set(offered), set(got))

    @unittest.skipUnless(shutil.which("fish"), "no fish here")
    def test_fish(self):
        script = self.script("fish")
        for line, offered in ((("queue ", self.help_words("queue")[0]), *ENUMERATED)):
            with self.subTest(line):
                got = self.run_in("fish", "--no-config", "-c",
                                  f"source {script}; complete -C 'tarry {line}' | cut -f 1")
                self.assertLessEqual(set(offered), set(got))

    def test_bad_shell(self):
        self.refused("completion", "fisch", says='did you mean "fish"?')
        self.refused("completion", says="SHELL")


class Manual(ProgramTest):
    def test_it_is_well_formed(self):
        page = self.directory / "tarry.1"
        page.write_text(self.tarry("man").out)
        checked = False
        for check in (["mandoc", "-T", "lint", "-W", "error"],
                      ["groff", "-man", "-ww", "-z", "-Kutf8"]):
            if not shutil.which(check[0]):
                continue
            finished = subprocess.run([*check, str(page)], capture_output=True, text=True,
                                      check=False, timeout=60)
            self.assertEqual((finished.returncode, finished.stdout + finished.stderr), (0, ""))
            checked = True
        if not checked:
            self.skipTest("neither mandoc nor groff")

    def test_it_says_what_the_help_says(self):
        text = self.tarry("man").out.replace("\\-", "-").replace("\\e", "\\")
        plain = re.sub(r"\\f[BIR]", "", text)
        help_text = self.tarry("--help").out
        for name in re.findall(r"^  (\w[\w-]*) ", help_text, re.MULTILINE):
            self.assertIn(f"\n.SS tarry {name}", plain)
        self.assertIn(".SS tarry queue set QUEUE [FLAG...]\n", plain)
        self.assertIn("\n--lease DURATION\n", plain)
        self.assertIn("Exit codes: 0 done", plain)
        self.assertIn("\ntarry queue set orders", plain.replace("  tarry", "tarry"))


if __name__ == "__main__":
    unittest.main()
