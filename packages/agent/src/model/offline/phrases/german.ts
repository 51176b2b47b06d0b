import { formatList, formatNumber, toCode } from "./format-number.ts";
import type { Phrases, PlanStepText, Unit } from "./phrases.ts";

const units: Readonly<Record<Unit, readonly [string, string]>> = {
  lines: ["Zeile", "Zeilen"],
  characters: ["Zeichen", "Zeichen"],
  words: ["Wort", "Wörter"],
  headings: ["Überschrift", "Überschriften"],
  list_items: ["Listenpunkt", "Listenpunkte"],
  code_blocks: ["Codeblock", "Codeblöcke"],
  tables: ["Tabelle", "Tabellen"],
  files: ["Datei", "Dateien"],
  folders: ["Ordner", "Ordner"],
  rows: ["Datenzeile", "Datenzeilen"],
  keys: ["Schlüssel", "Schlüssel"],
  entries: ["Eintrag", "Einträge"],
  members: ["Deklaration", "Deklarationen"],
  comments: ["Kommentarzeile", "Kommentarzeilen"],
  added: ["Zeile hinzugefügt", "Zeilen hinzugefügt"],
  removed: ["Zeile entfernt", "Zeilen entfernt"],
  errors: ["Fehler", "Fehler"],
  warnings: ["Warnung", "Warnungen"],
};

const number = (count: number): string => formatNumber(count, ".");
const count = (value: number, unit: Unit): string => `${number(value)} ${units[unit][value === 1 ? 0 : 1]}`;
const list = (entries: readonly string[]): string => formatList(entries, ", ", " und ");
const codes = (entries: readonly string[]): string => list(entries.map(toCode));

export const germanPhrases: Phrases = {
  language: "de",
  introduction: "Hier antwortet das Offline-Modell von Sheaf (regelbasiert, ohne Schlüssel).",
  count,
  number,
  separator: ", ",
  list,
  labels: {
    purpose: "Zweck",
    points: "Hauptpunkte",
    outline: "Gliederung",
    commands: "Befehle",
    exports: "Exporte",
    members: "Deklarationen",
    imports: "Importe",
    facts: "Angaben",
    findings: "Auffällig",
    contents: "Inhalt",
    scripts: "Skripte",
    dependencies: "Abhängigkeiten",
    dev_dependencies: "Abhängigkeiten der Entwicklung",
    programs: "Programme",
    engines: "Braucht",
    license: "Lizenz",
    version: "Version",
    columns: "Spalten",
    changed_files: "Geänderte Dateien",
    first_lines: "Erste Zeilen",
    errors: "Fehler und Warnungen",
    period: "Zeitraum",
    folders: "Ordner",
    files: "Dateien",
    title: "Titel",
  },
  roles: {
    source: "Quelltext",
    tests: "Tests",
    documentation: "Dokumentation",
    scripts: "Skripte und Werkzeuge",
    packages: "Pakete des Arbeitsbereichs",
    examples: "Beispiele",
    output: "Ergebnis des Bauens",
    configuration: "Konfiguration",
    assets: "Bilder und andere Beigaben",
    automation: "Automatisierung (CI)",
    benchmarks: "Messungen",
  },

  announceRead: (files) => [
    "Ich, das regelbasierte Offline-Modell, werde ",
    `${files.length === 1 ? "die " : ""}${list(files)} lesen`,
  ],
  announceSummaryFile: (target) => ` und eine Zusammenfassung in ${target} erstellen.`,
  announce: (action, object) =>
    ({
      read: `Ich lese ${object}.`,
      write: `Ich schreibe ${object}.`,
      edit: `Ich ändere ${object}.`,
      delete: `Ich lösche ${object}.`,
      rename: `Ich benenne ${object} um.`,
      list: object === "." ? "Ich sehe mir den Ordner an." : `Ich sehe mir den Ordner ${object} an.`,
      search: `Ich suche ${toCode(object)}.`,
      run: `Ich führe ${toCode(object)} aus.`,
      plan: "Daraus mache ich einen Plan.",
      todo: "Ich schreibe die Aufgabenliste.",
      ask: "Eine Angabe fehlt:",
    })[action],

  summaryTitle: (name) => `${name}-Zusammenfassung`,
  summarySource: (source, counts) =>
    `Entnommen aus ${source} (${counts}) vom Offline-Modell von Sheaf: Die Sätze sind ausgewählt, keiner ist erfunden.`,
  summaryOf: (source) => `Das steht in ${source}, in seinen eigenen Worten:`,
  reviewOf: (source) => `Das können die Regeln über ${source} sagen; was es bedeutet, beurteilen sie nicht:`,
  pipedText: "dem mitgegebenen Text",
  pipedTitle: "Zusammenfassung",
  cutNote: "Der Text ist lang: Die Gliederung ist vollständig, die Punkte stammen aus einer Auswahl seiner Absätze.",
  partlyRead: (source, read, total) => `Gelesen wurden nur ${number(read)} von ${count(total, "lines")} in ${source}.`,
  emptySource: (source) => `${source} ist leer: Es gibt nichts zusammenzufassen.`,
  nothingToSummarise: (source) =>
    `In ${source} stehen keine Sätze, die für das Ganze stehen könnten; hier sind die Angaben.`,
  more: (value) => `… und ${number(value)} weitere`,
  noFindings: "Nichts von dem, wonach die Regeln suchen (offene TODOs, vergessene Fehlersuche, sehr lange Zeilen).",
  line: (value) => `Zeile ${number(value)}`,
  invalidJson: (reason) => `Es ist kein gültiges JSON: ${reason}`,

  showing: (path, start, end) =>
    `${toCode(path)}, ${start === end ? `Zeile ${number(start)}` : `Zeilen ${number(start)} bis ${number(end)}`}:`,
  shownPart: (shown, total) =>
    `Das sind ${number(shown)} von ${count(total, "lines")}. Die anderen gibt es mit: Zeilen ${shown + 1} bis ${Math.min(total, 2 * shown)}.`,
  beyondEnd: (path, start) => `${toCode(path)} hat keine Zeile ${number(start)}.`,

  hits: (value, files, term) =>
    `${value === 1 ? "1 Fundstelle" : `${number(value)} Fundstellen`} für ${toCode(term)} in ${count(files, "files")}:`,
  noHits: (term, place) =>
    `${toCode(term)} wurde${place === undefined ? "" : ` in ${toCode(place)}`} nicht gefunden. Vielleicht hilft eine andere Schreibweise oder ein kürzeres Stück davon.`,
  definitions: (value, name) =>
    `${toCode(name)} ist ${value === 1 ? "hier" : `an ${number(value)} Stellen`} definiert:`,
  noDefinition: (name) => `Die Regeln fanden keine Definition von ${toCode(name)}; erwähnt wird es hier:`,
  foundFiles: (value, pattern) => `${count(value, "files")} zu ${toCode(pattern)}:`,
  noFiles: (pattern) => `Keine Datei passt zu ${toCode(pattern)}.`,
  folderContents: (folder, folders, files) =>
    `${folder === "." ? "Der Ordner" : toCode(folder)} enthält oben ${count(folders, "folders")} und ${count(files, "files")}:`,
  emptyFolder: (folder) => `${folder === "." ? "Der Ordner" : toCode(folder)} ist leer.`,

  commandEnded: (command, exitCode) =>
    `${toCode(command)} endete mit dem Exit-Code ${exitCode}${exitCode === 0 ? "" : ", also mit einem Fehler"}.`,
  commandOutput: "Die Ausgabe:",
  lastLines: (shown, total) => `Die letzten ${number(shown)} von ${count(total, "lines")} der Ausgabe:`,
  noOutput: "Es gab keine Ausgabe.",
  noScript: (script, available) =>
    `package.json hat kein Skript namens ${toCode(script)}. ${available.length > 0 ? `Es gibt: ${codes(available)}.` : "Es gibt keine Skripte."} Nenne einen Befehl in Backticks: führe \`…\` aus.`,

  written: (path, lines) => `${toCode(path)} ist geschrieben (${count(lines, "lines")}).`,
  edited: (path, places) =>
    `${toCode(path)} ist an ${places === 1 ? "einer Stelle" : `${number(places)} Stellen`} geändert.`,
  notInFile: (text, path) =>
    `${toCode(text)} kommt in ${toCode(path)} nicht vor: Es wurde nichts geändert. Groß- und Kleinschreibung zählen.`,
  sameText: "Alter und neuer Text sind gleich: Es wurde nichts geändert.",
  deleted: (paths) => `${codes(paths)} ${paths.length === 1 ? "ist" : "sind"} gelöscht.`,
  renamed: (from, to) => `${toCode(from)} heißt jetzt ${toCode(to)}.`,

  planTitle: (goal) => `Plan: ${goal}`,
  planOverview: (goal) =>
    `Ein erster Plan für „${goal}“, nach Regeln aus den Namen im Ordner gemacht; er kennt den Aufbau, nicht den Code.`,
  planSteps: (facts): PlanStepText[] => [
    {
      id: "look",
      content: `${facts.files.length > 0 ? codes(facts.files) : "Die betroffenen Dateien"} lesen und festhalten, was schon da ist`,
      after: [],
    },
    {
      id: "goal",
      content: `Aufschreiben, woran man erkennt, dass „${facts.goal}“ fertig ist, mit einem Beispiel`,
      after: ["look"],
    },
    ...facts.parts.map((part, index) => ({
      id: `part-${index + 1}`,
      content: `${part}${facts.sourceFolder === undefined ? "" : ` (in ${toCode(facts.sourceFolder)})`}`,
      after: ["goal"],
    })),
    {
      id: "tests",
      content: `Tests${facts.testFolder === undefined ? "" : ` in ${toCode(facts.testFolder)}`} ergänzen, für das Beispiel und für einen Fehlerfall`,
      after: facts.parts.map((_, index) => `part-${index + 1}`),
    },
    {
      id: "check",
      content: facts.testCommand === undefined ? "Alle Tests ausführen" : `${toCode(facts.testCommand)} ausführen`,
      after: ["tests"],
    },
    ...(facts.readme === undefined
      ? []
      : [{ id: "docs", content: `Es in ${toCode(facts.readme)} beschreiben`, after: ["check"] }]),
  ],
  planHeadings: { goal: "Ziel", look: "Wo man zuerst nachsieht", steps: "Schritte", open: "Offen" },
  planOpen:
    "Was das Ziel im Einzelnen bedeutet: Dieses Modell kennt nur die Namen der Dateien. Ein echtes Modell liest den Code.",
  planReady: (steps) =>
    `Der Plan hat ${number(steps)} Schritte. Er kommt aus Regeln und dem Aufbau des Ordners; er ist ein Anfang.`,
  todosReady: (value) => `Die Aufgabenliste hat ${count(value, "entries")}.`,

  questionTitle: "Eine Frage",
  questions: {
    file: "Welche Datei?",
    command: "Welcher Befehl?",
    term: "Wonach soll gesucht werden?",
    goal: "Was soll geplant werden?",
    content: "Was soll in der Datei stehen?",
    items: "Was soll auf die Liste? Die Einträge durch Kommas trennen.",
    task: "Was soll getan werden?",
    names: "Wie soll die Datei heißen?",
    replacement: "Was soll wodurch ersetzt werden? Zum Beispiel: ersetze „alt“ durch „neu“ in einer Datei.",
  },
  taskOptions: (files) => [
    ...files.map((file) => `Fasse ${file} zusammen`),
    "Erkläre die Projektstruktur",
    "Liste die Dateien auf",
    "Was kannst du?",
  ],
  askInText: "Antworte mit der nächsten Nachricht. Zur Auswahl stehen:",

  failed: (action, object) =>
    ({
      read: `${toCode(object)} konnte nicht gelesen werden.`,
      write: `${toCode(object)} konnte nicht geschrieben werden.`,
      edit: `${toCode(object)} konnte nicht geändert werden.`,
      delete: `${toCode(object)} konnte nicht gelöscht werden.`,
      rename: `${toCode(object)} konnte nicht umbenannt werden.`,
      list: `Der Ordner ${toCode(object)} konnte nicht aufgelistet werden.`,
      search: `Die Suche nach ${toCode(object)} schlug fehl.`,
      run: `${toCode(object)} wurde nicht ausgeführt.`,
      plan: "Der Plan konnte nicht gemacht werden.",
      todo: "Die Aufgabenliste konnte nicht geschrieben werden.",
      ask: "Die Frage konnte nicht gestellt werden.",
    })[action],
  advice: {
    not_found:
      "Prüfe den Namen und seine Schreibweise (`liste die Dateien auf` zeigt, was da ist) und den Ordner, in dem Sheaf gestartet wurde.",
    refused:
      "Dafür braucht es eine Erlaubnis: starte noch einmal mit `--force`, oder erlaube nur dies mit `--allow REGEL` (siehe `sheaf permissions explain`).",
    read_only:
      "Hier darf nichts geschrieben werden: prüfe den Modus (`--mode agent`) und ob der Ordner beschreibbar ist.",
    binary: "Es ist eine Binärdatei: die Regeln lesen nur Text.",
    too_large: "Die Datei ist zu groß: lass dir einige Zeilen geben, etwa mit `zeige Zeilen 1-200 aus` und dem Namen.",
    outside:
      "Das liegt außerhalb des Arbeitsbereichs: starte Sheaf in jenem Ordner, oder nimm ihn mit `--add-dir ORDNER` dazu.",
    timeout: "Es hat zu lange gedauert: versuche einen kleineren Schritt, oder führe es selbst aus.",
    is_folder: "Das ist ein Ordner: nenne eine Datei, oder sage `erkläre` und den Ordner.",
    no_match: "Der alte Text muss genau so vorkommen: sieh ihn dir vorher mit `zeige` und dem Namen an.",
    stale: "Die Datei hat sich inzwischen geändert: frage noch einmal.",
    exists: "Eine Datei dieses Namens gibt es schon: wähle einen anderen Namen, oder lösche jene zuerst.",
    cancelled: "Es wurde abgebrochen.",
    sandbox: "Die Sandbox konnte nicht starten: `sheaf doctor` sagt, warum.",
    other: "Den Grund nennt die Meldung oben; `--verbose` sagt mehr.",
  },
  toolMissing: (tool, mode) =>
    `Dafür braucht es das Werkzeug ${toCode(tool)}, und im Modus ${mode} wird es nicht angeboten. Starte noch einmal mit \`--mode agent\`.`,
  budgetEnds: (action) =>
    `Das Budget dieses Laufs ist aufgebraucht. Noch zu tun: ${action} Erhöhe das Budget (\`--max-turns\`, \`--max-tool-calls\`, \`--max-tokens\`) und mache mit \`--continue\` weiter.`,
  summaryInstead: "Die Zusammenfassung selbst ist hier:",

  greeting: "Hallo. Ich bin das Offline-Modell von Sheaf: ein paar Regeln, ohne Schlüssel.",
  thanks:
    "Gern geschehen. Ich bin nur das Offline-Modell von Sheaf, ein paar Regeln; was gibt es noch zu lesen oder zu finden?",
  notUnderstood: "Ich bin das Offline-Modell von Sheaf, ein paar Regeln, und keine passt auf diese Eingabe.",
  contextNotUnderstood:
    "Mit der Eingabe kam ein Text, und den kann ich zusammenfassen: sage dahinter `fasse das zusammen`.",
  abilitiesTitle: "Das kann ich:",
  abilities: [
    "lesen und zusammenfassen: `Lies die README.md und erstelle eine Zusammenfassung`, `Fasse docs/guide.md zusammen`, `Worum geht es in package.json?`; oder einen Text hineinleiten und `fasse das zusammen` sagen",
    "zeigen: `Zeige src/main.ts`, `Zeige Zeilen 10-20 aus src/main.ts`",
    "finden: `Suche TODO in src`, `Wo ist createServer definiert?`, `Finde alle *.ts Dateien`",
    "den Aufbau erklären: `Erkläre die Projektstruktur`, `Liste die Dateien in src auf`",
    "ausführen: ``Führe `npm test` aus``, `Führe die Tests aus`",
    'schreiben und ändern: `Erstelle hallo.txt mit dem Inhalt "Hallo"`, `Ersetze "a" durch "b" in hallo.txt`, `Benenne hallo.txt in hi.txt um`, `Lösche hi.txt`',
    "planen: `Plane den Umstieg auf TypeScript`, `Mache eine Aufgabenliste: lesen, schreiben, testen`",
  ],
  realModel:
    "Für alles andere nenne ein echtes Modell: `--model anthropic/…` oder `--model openai/…` mit dem Schlüssel in der Umgebung oder `--api-key`, oder ein lokales mit `--model ollama/… --base-url http://localhost:11434/v1`. Siehe `sheaf --help`.",
};
