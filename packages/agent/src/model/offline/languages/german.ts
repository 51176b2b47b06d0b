import type { Language } from "./english.ts";

export const german: Language = {
  code: "de",
  words: `
about: wie ist | worum geht* | worum es | was liegt | was gibt es | was befindet | worum handelt | um was geht* | was steht | was ist | was sind | was macht | was tut | wovon handelt | was enthält | was beinhaltet | inhalt von | inhalt der | erzähl* … über | wie funktioniert* | analysier* | erklär* | erläuter* | beschreib* | wie viele | wieviele | zähle | zählen | anzahl | prüfe | prüf | prüfen | überprüf* | begutacht* | review | reviewe | sieh … durch | schau … durch | bewerte | bewerten
ask_me: frag mich | frage mich | fragen sie mich | stell mir | stelle mir | stellen sie mir | lass mich wählen | lass mich auswählen
asking: wie kann | wie könnte | wie soll | wie sollte | wie man | wie lösche | wie führe | warum | wieso | weshalb | was passiert | was wäre | soll ich | sollte ich | darf ich | nicht | niemals
delete: lösch | lösche | löschen | entfern | entferne | entfernen
file: datei | dateien
find: find | finde | finden | such | suche | suchen | sucht | durchsuch* | grep | wo kommt | wo kommen | welche dateien enthalten | welchen dateien | welcher datei | kommt … vor | kommen … vor | vorkommen | fundstelle* | wo | definiert | definier* | deklariert | implementiert | definition
help: hilfe | hilf | helfen | was kannst du | was können sie | wer bist du | wer sind sie | was bist du | wie funktionierst du | was geht | hallo | guten tag | guten morgen | guten abend | servus | moin | grüß* | grüezi | danke | vielen dank | dankeschön | besten dank
lines: zeile | zeilen
list: liste | auflisten | aufliste | zähle … auf | ls | welche dateien
plan: plan | plane | planen | plant | planung | pläne | fahrplan
project: projekt | projekts | projektes | projekte | repo | repository | codebasis | codebase | workspace | struktur | aufbau | aufgebaut | projektstruktur | ordnerstruktur | verzeichnisstruktur | gliederung | gegliedert | architektur | verzeichnisbaum | dateibaum | projektaufbau
rename: umbenennen | benenne … um | benenn … um | benennen … um | verschieb | verschiebe | verschieben
replace: ersetz | ersetze | ersetzen | tausche … aus | tausch … aus | austauschen | ändere | ändern
run: führe … aus | führ … aus | führen … aus | ausführen | starte | starten | lass … laufen | lasse … laufen | laufen lassen
show: zeig | zeige | zeigen | anzeigen | gib … aus | gebe … aus | ausgeben | öffne | öffnen | gib … wieder | zitiere | lies | lese | lesen | lest | liest | einlesen | durchlesen | gelesen | sieh … an | schau … an
summarise: fass … zusammen | fasse … zusammen | fassen … zusammen | fasst … zusammen | zusammenfassen | zusammenfasse | zusammengefasst | zusammenzufassen | resümiere | hauptpunkte | kernpunkte | wichtigsten punkte | zusammenfassung | zusammenfassungen | überblick | kurzfassung | resümee | übersicht | inhaltsangabe
tests: test | tests | testlauf | unittests
this: sie | dies | diese | diesen | dieser | dieses | das | es | ihn | folgende | folgenden | folgendes | obige | obigen
todo_list: todo liste | to do liste | todoliste | aufgabenliste | checkliste | todos | liste … aufgaben | todo list
write: erstelle | erstell | erstellen | erstellt | erstellst | erzeug | erzeuge | erzeugen | leg … an | lege … an | legen … an | anlegen | mach | mache | machen | generiere | generieren | verfasse | verfassen | fertige … an | anfertigen | schreib | schreibe | schreiben | schreibst | speicher | speichere | speichern | leg … ab | lege … ab | halte … fest
glue: bitte | kannst | könntest | können | könnten | würdest | würden | du | sie | mir | mich | ich | wir | uns | der | die | das | den | dem | des | ein | eine | einen | einem | einer | eines | und | oder | dann | danach | auch | in | im | ins | aus | von | vom | zu | zum | zur | nach | mit | für | ist | sind | war | wird | wurde | werden | man | mal | doch | nun | jetzt | unter | auf | an | am | bei | als`,
  target:
    /(?:zusammenfass|fass|erstell|schreib|speicher)[^]{0,120}?\b(?:in|ins|nach|als|unter)\s+(?:die |der |das |den |dem |eine |einer )?(?:neue |neuen )?(?:datei )?([\uE000-\uF8FF])/g,
  folder:
    /(?:^|\s)(?:(?:in|im|unter|aus|von)\s+(?:dem |der |den )?(?:ordner |verzeichnis )?|(?:ordner|verzeichnis|ls|durchsuche)\s+)(?!der |dem |den |die |das )([\w.-]+)/,
  goals: [/\bplan[e]?\b\s{0,3}(?:für|fuer|zu|zum|zur|um)?\b\s{0,3}:?\s{0,3}(.+)$/is, /^(.+?)\s{1,3}planen\b/is],
  term: /(?:such|suche|finde?|wo ist|nach)\s+(?:nach |dem |das |der |die )?(?:wort |text )?(.+?)(?:\s+(?:in|im|definiert)\b.*)?$/i,
  phrases: {
    introduction: "Hier antwortet das Offline-Modell von Sheaf (regelbasiert, ohne Schlüssel).",
    summaryFile: [
      "Ich, das regelbasierte Offline-Modell, werde ",
      "die {0} lesen",
      " und eine Zusammenfassung in {1} erstellen.",
    ],
    calling: "Ich rufe {0} mit {1} auf.",
    failed: "{0} ist bei {1} gescheitert:",
    toolMissing:
      "Dafür braucht es das Werkzeug {0}, und im Modus {1} wird es nicht angeboten. Starte noch einmal mit `--mode agent`.",
    budgetEnds:
      "Das Budget dieses Laufs ist aufgebraucht. Noch zu tun: {0} Erhöhe das Budget (`--max-turns`, `--max-tool-calls`, `--max-tokens`) und mache mit `--continue` weiter.",
    title: "{0}-Zusammenfassung",
    origin: "Entnommen aus {0} ({1}) vom Offline-Modell von Sheaf: Die Sätze sind ausgewählt, keiner ist erfunden.",
    counts: "Zeilen: {0}, Zeichen: {1}, Überschriften: {2}",
    purpose: "Zweck",
    commands: "Befehle",
    outline: "Gliederung",
    and: " und ",
    more: "… und {0} weitere",
    nothing: "Zu {0} wurde nichts gefunden.",
    done: "Erledigt: {0}.",
    planTitle: "Plan: {0}",
    planOverview:
      "Ein erster Plan für „{0}“, nach Regeln aus den Namen im Ordner gemacht; er kennt den Aufbau, nicht den Code.",
    look: "{0} lesen und festhalten, was schon da ist",
    goal: "Aufschreiben, woran man erkennt, dass „{0}“ fertig ist, mit einem Beispiel",
    tests: "Tests ergänzen, für das Beispiel und für einen Fehlerfall",
    check: "{0} ausführen",
    missing: "Eine Angabe fehlt:",
    questions: {
      file: "Welche Datei?",
      command: "Welcher Befehl?",
      term: "Wonach soll gesucht werden?",
      goal: "Was soll geplant werden?",
      content: "Was soll in der Datei stehen?",
      items: "Was soll auf die Liste? Die Einträge durch Kommas trennen.",
      task: "Was soll getan werden?",
      names: "Wie soll die Datei heißen?",
    },
    tasks: ["Fasse {0} zusammen", "Erkläre die Projektstruktur", "Liste die Dateien auf", "Was kannst du?"],
    notUnderstood: "Ich bin das Offline-Modell von Sheaf, ein paar Regeln, und keine passt auf diese Eingabe.",
    abilities: `- lesen und zusammenfassen: \`Lies die README.md und erstelle eine Zusammenfassung\`, \`Fasse docs/guide.md zusammen\`, \`Worum geht es in package.json?\`; oder einen Text hineinleiten und \`fasse das zusammen\` sagen
- zeigen: \`Zeige src/main.ts\`, \`Zeige Zeilen 10-20 aus src/main.ts\`
- finden: \`Suche TODO in src\`, \`Wo ist createServer definiert?\`, \`Finde alle *.ts Dateien\`
- den Aufbau erklären: \`Erkläre die Projektstruktur\`, \`Liste die Dateien in src auf\`
- ausführen: \`\`Führe \`npm test\` aus\`\`, \`Führe die Tests aus\`
- schreiben und ändern: \`Erstelle hallo.txt mit dem Inhalt "Hallo"\`, \`Ersetze "a" durch "b" in hallo.txt\`, \`Benenne hallo.txt in hi.txt um\`, \`Lösche hi.txt\`
- planen: \`Plane den Umstieg auf TypeScript\`, \`Mache eine Aufgabenliste: lesen, schreiben, testen\``,
    realModel:
      "Für alles andere nenne ein echtes Modell: `--model anthropic/…` oder `--model openai/…` mit dem Schlüssel in der Umgebung oder `--api-key`, oder ein lokales mit `--model ollama/… --base-url http://localhost:11434/v1`. Siehe `sheaf --help`.",
  },
};
