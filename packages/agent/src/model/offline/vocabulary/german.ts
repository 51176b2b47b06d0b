import type { Vocabulary } from "./vocabulary.ts";

export const german: Vocabulary = {
  language: "de",
  concepts: {
    about:
      "worum geht* | worum es | was liegt | was gibt es | was befindet | worum handelt | um was geht* | was steht | was ist | was sind | was macht | was tut | wovon handelt | was enthält | was beinhaltet | inhalt von | inhalt der | erzähl* … über",
    all: "alle | allen | alles | jede | jedes | jeden | überall | sämtliche",
    ask_me:
      "frag mich | frage mich | fragen sie mich | stell mir | stelle mir | stellen sie mir | lass mich wählen | lass mich auswählen",
    asking:
      "wie kann | wie könnte | wie soll | wie sollte | wie man | wie lösche | wie führe | warum | wieso | weshalb | was passiert | was wäre | soll ich | sollte ich | darf ich | nicht | niemals",
    command: "befehl | befehle | befehls | kommando | kommandos | terminal | shell",
    content: "inhalt | inhalts | inhalte | text | wortlaut",
    count: "wie viele | wieviele | zähle | zählen | anzahl",
    create:
      "erstelle | erstell | erstellen | erstellt | erstellst | erzeug | erzeuge | erzeugen | leg … an | lege … an | legen … an | anlegen | mach | mache | machen | generiere | generieren | verfasse | verfassen | fertige … an | anfertigen",
    define: "definiert | definier* | deklariert | implementiert | definition",
    delete: "lösch | lösche | löschen | entfern | entferne | entfernen",
    empty: "leere | leeren | leeres | leerer | leer",
    explain: "wie funktioniert* | analysier* | erklär* | erläuter* | beschreib*",
    file: "datei",
    files: "dateien",
    find: "find | finde | finden | such | suche | suchen | sucht | durchsuch* | grep | wo kommt | wo kommen | welche dateien enthalten | welchen dateien | welcher datei | kommt … vor | kommen … vor | vorkommen | fundstelle*",
    first: "erste | ersten | erster | anfang",
    folder: "ordner | ordners | ordnern | verzeichnis | verzeichnisse | verzeichnisses",
    greeting: "hallo | guten tag | guten morgen | guten abend | servus | moin | grüß* | grüezi",
    help: "hilfe | hilf | helfen | was kannst du | was können sie | wer bist du | wer sind sie | was bist du | wie funktionierst du | was geht",
    last: "letzte | letzten | letzter | ende",
    lines: "zeile | zeilen",
    list: "liste | auflisten | aufliste | zähle … auf | ls | welche dateien",
    named: "namens | heißt | heißen | genannt | mit dem namen",
    plan: "plan | plane | planen | plant | planung | pläne | fahrplan",
    project: "projekt | projekts | projektes | projekte | repo | repository | codebasis | codebase | workspace",
    read: "lies | lese | lesen | lest | liest | einlesen | durchlesen | gelesen | sieh … an | schau … an",
    rename: "umbenennen | benenne … um | benenn … um | benennen … um | verschieb | verschiebe | verschieben",
    replace: "ersetz | ersetze | ersetzen | tausche … aus | tausch … aus | austauschen | ändere | ändern",
    review:
      "prüfe | prüf | prüfen | überprüf* | begutacht* | review | reviewe | sieh … durch | schau … durch | bewerte | bewerten",
    run: "führe … aus | führ … aus | führen … aus | ausführen | starte | starten | lass … laufen | lasse … laufen | laufen lassen",
    show: "zeig | zeige | zeigen | anzeigen | gib … aus | gebe … aus | ausgeben | öffne | öffnen | gib … wieder | zitiere",
    structure:
      "struktur | aufbau | aufgebaut | projektstruktur | ordnerstruktur | verzeichnisstruktur | gliederung | gegliedert | architektur | verzeichnisbaum | dateibaum | projektaufbau",
    summarise:
      "fass … zusammen | fasse … zusammen | fassen … zusammen | fasst … zusammen | zusammenfassen | zusammenfasse | zusammengefasst | zusammenzufassen | resümiere | hauptpunkte | kernpunkte | wichtigsten punkte",
    summary: "zusammenfassung | zusammenfassungen | überblick | kurzfassung | resümee | übersicht | inhaltsangabe",
    tests: "test | tests | testlauf | unittests",
    thanks: "danke | vielen dank | dankeschön | besten dank",
    this: "sie | dies | diese | diesen | dieser | dieses | das | es | ihn | folgende | folgenden | folgendes | obige | obigen",
    todo_list:
      "todo liste | to do liste | todoliste | aufgabenliste | checkliste | todos | liste … aufgaben | todo list",
    used: "verwendet | benutzt | genutzt | verwende* | benutze* | aufgerufen | kommt … vor | kommen … vor",
    where: "wo",
    write:
      "schreib | schreibe | schreiben | schreibst | speicher | speichere | speichern | leg … ab | lege … ab | halte … fest",
  },
  glue: "bitte | kannst | könntest | können | könnten | würdest | würden | du | sie | mir | mich | ich | wir | uns | der | die | das | den | dem | des | ein | eine | einen | einem | einer | eines | und | oder | dann | danach | auch | in | im | ins | aus | von | vom | zu | zum | zur | nach | mit | für | ist | sind | war | wird | wurde | werden | man | mal | doch | nun | jetzt | unter | auf | an | am | bei | als | welche | welchen | welcher | diesem | was | hier | dort | wort | wörter | begriff | funktion | funktionen | klasse | methode | variable | typ | konstante | code | ihr | ihre | sein | seine | durch | wie | gibt | einmal | kurz | wer | ruft | steht | kommt | vor | im code",
  targetBefore:
    /(?:^|[\s,;])(?:in|ins|nach|als|namens|unter|auf)\s+(?:die |der |das |den |dem |eine |einer |einem |ein )?(?:neue |neuen |neuer )?(?:textdatei |datei )?(?:namens )?$/,
  targetAfter: /^\s?(?:ab|fest)\b(?!.*\ue000)/,
  folderBefore:
    /(?:^|\s)(?:(?:in|im|unter|aus|von|vom|innerhalb von|des|den)\s+(?:dem |der |den |des )?(?:ordner |ordners |verzeichnis |verzeichnisses )?|(?:ordner|verzeichnis|ls)\s+)$/,
  folderAfter: /^[\s-]?(?:ordner|verzeichnis)|^\snach\s/,
  planGoals: [
    /\bplan[e]?\b\s{0,3}(?:für|fuer|zu|zum|zur|um|wie)?\b\s{0,3}:?\s{0,3}(.+)$/is,
    /^(?:wie\s+\S{1,20}\s+(?:du|man|wir|ich|sie)\s+)?(.+?)\s{1,3}planen\b/is,
  ],
  behindCommand:
    /(?:[,;]?\s(?:bitte|danke|für mich)(?:\s|[.!]|$).*$|\saus(?:[.!,]|$|\s(?:und|bitte|dann)\b.*$)|\slaufen[.!]?$|[,;]?\s(?:und|dann)\s(?:dann )?(?:sag|zeig|erklär|bericht|fass|gib|prüf)\S*.*$|\s(?:im terminal|in der shell)[.!]?$)/is,
};
