import { formatList, formatNumber, toCode } from "./format-number.ts";
import type { Phrases, PlanStepText, Unit } from "./phrases.ts";

const units: Readonly<Record<Unit, string>> = {
  lines: "satır",
  characters: "karakter",
  words: "sözcük",
  headings: "başlık",
  list_items: "liste maddesi",
  code_blocks: "kod bloğu",
  tables: "tablo",
  files: "dosya",
  folders: "klasör",
  rows: "veri satırı",
  keys: "anahtar",
  entries: "madde",
  members: "bildirim",
  comments: "yorum satırı",
  added: "satır eklendi",
  removed: "satır silindi",
  errors: "hata",
  warnings: "uyarı",
};

const number = (count: number): string => formatNumber(count, ".");
const count = (value: number, unit: Unit): string => `${number(value)} ${units[unit]}`;
const list = (entries: readonly string[]): string => formatList(entries, ", ", " ve ");
const codes = (entries: readonly string[]): string => list(entries.map(toCode));
const files = (entries: readonly string[]): string =>
  `${list(entries)} ${entries.length === 1 ? "dosyasını" : "dosyalarını"}`;

export const turkishPhrases: Phrases = {
  language: "tr",
  introduction: "Yanıt, Sheaf'in çevrimdışı modelinden (kural tabanlı, anahtar gerekmez).",
  count,
  number,
  separator: ", ",
  list,
  labels: {
    purpose: "Amaç",
    points: "Ana noktalar",
    outline: "Başlıklar",
    commands: "Komutlar",
    exports: "Dışa aktarılanlar",
    members: "Bildirimler",
    imports: "İçe aktarılanlar",
    facts: "Bilgiler",
    findings: "Dikkat çekenler",
    contents: "İçerik",
    scripts: "Betikler",
    dependencies: "Bağımlılıklar",
    dev_dependencies: "Geliştirme bağımlılıkları",
    programs: "Programlar",
    engines: "Gerektirir",
    license: "Lisans",
    version: "Sürüm",
    columns: "Sütunlar",
    changed_files: "Değişen dosyalar",
    first_lines: "İlk satırlar",
    errors: "Hatalar ve uyarılar",
    period: "Zaman aralığı",
    folders: "Klasörler",
    files: "Dosyalar",
    title: "Başlık",
  },
  roles: {
    source: "kaynak kod",
    tests: "testler",
    documentation: "belgeler",
    scripts: "betikler ve araçlar",
    packages: "çalışma alanının paketleri",
    examples: "örnekler",
    output: "derleme çıktısı",
    configuration: "yapılandırma",
    assets: "görseller ve ekler",
    automation: "otomasyon (CI)",
    benchmarks: "ölçümler",
  },

  announceRead: (entries) => ["Ben, kural tabanlı çevrimdışı model, ", `${files(entries)} okuyacağım`],
  announceSummaryFile: (target) => ` ve ${target} dosyasına bir özet çıkaracağım.`,
  announce: (action, object) =>
    ({
      read: `${object} dosyasını okuyorum.`,
      write: `${object} dosyasını yazıyorum.`,
      edit: `${object} dosyasını değiştiriyorum.`,
      delete: `${object} dosyasını siliyorum.`,
      rename: `${object} dosyasını yeniden adlandırıyorum.`,
      list: object === "." ? "Klasöre bakıyorum." : `${object} klasörüne bakıyorum.`,
      search: `${toCode(object)} arıyorum.`,
      run: `${toCode(object)} komutunu çalıştırıyorum.`,
      plan: "Bundan bir plan yapıyorum.",
      todo: "Yapılacaklar listesini yazıyorum.",
      ask: "Bir bilgi eksik:",
    })[action],

  summaryTitle: (name) => `${name} Özeti`,
  summarySource: (source, counts) =>
    `Kaynak: ${source} (${counts}). Sheaf'in çevrimdışı modeliyle çıkarıldı: cümleler seçildi, hiçbiri uydurulmadı.`,
  summaryOf: (source) => `${source} içinde yazanlar, metnin kendi sözleriyle:`,
  reviewOf: (source) => `Kuralların ${source} hakkında söyleyebildiği budur; anlamını değerlendirmezler:`,
  pipedText: "istemle gelen metin",
  pipedTitle: "Özet",
  cutNote: "Metin uzun: başlıklar tamdır, noktalar paragraflarının bir bölümünden seçilmiştir.",
  partlyRead: (source, read, total) =>
    `${source} dosyasının ${count(total, "lines")} içinden yalnızca ${number(read)} satırı okundu.`,
  emptySource: (source) => `${source} boş: özetlenecek bir şey yok.`,
  nothingToSummarise: (source) => `${source} içinde bütünü anlatabilecek cümle yok; bilgileri şunlardır.`,
  more: (value) => `… ve ${number(value)} tane daha`,
  noFindings: "Kuralların aradığı bir şey yok (açık TODO, unutulmuş hata ayıklama, çok uzun satır).",
  line: (value) => `satır ${number(value)}`,
  invalidJson: (reason) => `Geçerli bir JSON değil: ${reason}`,

  showing: (path, start, end) =>
    `${toCode(path)}, ${start === end ? `satır ${number(start)}` : `satır ${number(start)}–${number(end)}`}:`,
  shownPart: (shown, total) =>
    `Bunlar ${count(total, "lines")} içinden ${number(shown)} tanesi. Ötekiler için: satır ${shown + 1}-${Math.min(total, 2 * shown)}.`,
  beyondEnd: (path, start) => `${toCode(path)} dosyasında ${number(start)}. satır yok.`,

  hits: (value, fileCount, term) => `${toCode(term)} için ${count(fileCount, "files")} içinde ${number(value)} sonuç:`,
  noHits: (term, place) =>
    `${toCode(term)}${place === undefined ? "" : ` (${toCode(place)} içinde)`} bulunamadı. Başka bir yazım ya da daha kısa bir parça işe yarayabilir.`,
  definitions: (value, name) => `${toCode(name)} ${value === 1 ? "burada" : `${number(value)} yerde`} tanımlı:`,
  noDefinition: (name) => `Kurallar ${toCode(name)} için bir tanım bulamadı; geçtiği yerler:`,
  foundFiles: (value, pattern) => `${toCode(pattern)} için ${count(value, "files")}:`,
  noFiles: (pattern) => `${toCode(pattern)} ile eşleşen dosya yok.`,
  folderContents: (folder, folders, fileCount) =>
    `${folder === "." ? "Klasörde" : `${toCode(folder)} içinde`} en üstte ${count(folders, "folders")} ve ${count(fileCount, "files")} var:`,
  emptyFolder: (folder) => `${folder === "." ? "Klasör" : toCode(folder)} boş.`,

  commandEnded: (command, exitCode) =>
    `${toCode(command)} ${exitCode} çıkış koduyla bitti${exitCode === 0 ? "" : ": başarısız oldu"}.`,
  commandOutput: "Çıktısı:",
  lastLines: (shown, total) => `Çıktının ${count(total, "lines")} içinden son ${number(shown)} satırı:`,
  noOutput: "Hiçbir çıktı vermedi.",
  noScript: (script, available) =>
    `package.json içinde ${toCode(script)} adlı betik yok. ${available.length > 0 ? `Olanlar: ${codes(available)}.` : "Hiç betik yok."} Komutu ters tırnak içinde yazın: \`…\` çalıştır.`,

  written: (path, lines) => `${toCode(path)} yazıldı (${count(lines, "lines")}).`,
  edited: (path, places) => `${toCode(path)} ${number(places)} yerde değiştirildi.`,
  notInFile: (text, path) =>
    `${toCode(text)}, ${toCode(path)} dosyasında geçmiyor: hiçbir şey değiştirilmedi. Büyük ve küçük harf ayrımı vardır.`,
  sameText: "Eski ve yeni metin aynı: hiçbir şey değiştirilmedi.",
  deleted: (paths) => `${codes(paths)} silindi.`,
  renamed: (from, to) => `${toCode(from)} dosyasının yeni adı ${toCode(to)}.`,

  planTitle: (goal) => `Plan: ${goal}`,
  planOverview: (goal) =>
    `"${goal}" için, klasördeki adlardan kurallarla yapılmış ilk plan; kodu değil, yerleşimi bilir.`,
  planSteps: (facts): PlanStepText[] => [
    {
      id: "look",
      content: `${facts.files.length > 0 ? codes(facts.files) : "İlgili dosyaları"} oku ve var olanı not et`,
      after: [],
    },
    { id: "goal", content: `"${facts.goal}" bittiğinde nasıl anlaşılacağını bir örnekle yaz`, after: ["look"] },
    ...facts.parts.map((part, index) => ({
      id: `part-${index + 1}`,
      content: `${part}${facts.sourceFolder === undefined ? "" : ` (${toCode(facts.sourceFolder)} içinde)`}`,
      after: ["goal"],
    })),
    {
      id: "tests",
      content: `${facts.testFolder === undefined ? "" : `${toCode(facts.testFolder)} içine `}örnek ve bir hata durumu için test ekle`,
      after: facts.parts.map((_, index) => `part-${index + 1}`),
    },
    {
      id: "check",
      content:
        facts.testCommand === undefined ? "Bütün testleri çalıştır" : `${toCode(facts.testCommand)} komutunu çalıştır`,
      after: ["tests"],
    },
    ...(facts.readme === undefined
      ? []
      : [{ id: "docs", content: `${toCode(facts.readme)} dosyasında anlat`, after: ["check"] }]),
  ],
  planHeadings: { goal: "Hedef", look: "Önce bakılacak yerler", steps: "Adımlar", open: "Açık" },
  planOpen: "Hedefin ayrıntıda ne demek olduğu: bu model yalnızca dosya adlarını bilir. Gerçek bir model kodu okur.",
  planReady: (steps) =>
    `Planda ${number(steps)} adım var. Kurallardan ve klasörün yerleşiminden çıktı; bir başlangıç olarak okuyun.`,
  todosReady: (value) => `Yapılacaklar listesinde ${count(value, "entries")} var.`,

  questionTitle: "Bir soru",
  questions: {
    file: "Hangi dosya?",
    command: "Hangi komut?",
    term: "Ne aransın?",
    goal: "Ne planlansın?",
    content: "Dosyada ne yazsın?",
    items: "Listede neler olsun? Maddeleri virgülle ayırın.",
    task: "Ne yapılsın?",
    names: "Dosyanın adı ne olsun?",
    replacement: 'Ne, neyle değiştirilsin? Örneğin: dosya adı ile birlikte "eski" yerine "yeni" yaz.',
  },
  taskOptions: (entries) => [
    ...entries.map((file) => `${file} dosyasını özetle`),
    "Proje yapısını açıkla",
    "Dosyaları listele",
    "Neler yapabilirsin?",
  ],
  askInText: "Bir sonraki mesajınızla yanıtlayın. Seçenekler:",

  failed: (action, object) =>
    ({
      read: `${toCode(object)} okunamadı.`,
      write: `${toCode(object)} yazılamadı.`,
      edit: `${toCode(object)} değiştirilemedi.`,
      delete: `${toCode(object)} silinemedi.`,
      rename: `${toCode(object)} yeniden adlandırılamadı.`,
      list: `${toCode(object)} klasörü listelenemedi.`,
      search: `${toCode(object)} araması başarısız oldu.`,
      run: `${toCode(object)} çalıştırılmadı.`,
      plan: "Plan yapılamadı.",
      todo: "Yapılacaklar listesi yazılamadı.",
      ask: "Soru sorulamadı.",
    })[action],
  advice: {
    not_found: "Adı ve yazımını (`dosyaları listele` olanları gösterir) ve Sheaf'in başlatıldığı klasörü denetleyin.",
    refused:
      "Bunun için izin gerekir: `--force` ile yeniden başlatın ya da yalnızca buna `--allow KURAL` ile izin verin (bkz. `sheaf permissions explain`).",
    read_only: "Burada bir şey yazılamaz: kipi (`--mode agent`) ve klasörün yazılabilir olup olmadığını denetleyin.",
    binary: "Bu ikili bir dosya: kurallar yalnızca metin okur.",
    too_large: "Dosya çok büyük: birkaç satırını isteyin, örneğin adıyla birlikte `1-200. satırları göster`.",
    outside: "Çalışma alanının dışında: Sheaf'i o klasörde başlatın ya da `--add-dir KLASÖR` ile ekleyin.",
    timeout: "Çok uzun sürdü: daha küçük bir adım deneyin ya da kendiniz çalıştırın.",
    is_folder: "Bu bir klasör: bir dosya adı verin ya da klasörle birlikte `açıkla` deyin.",
    no_match: "Eski metin aynen geçmelidir: önce adıyla birlikte `göster` diyerek bakın.",
    stale: "Dosya bu arada değişti: yeniden sorun.",
    exists: "Bu adda bir dosya zaten var: başka bir ad seçin ya da önce onu silin.",
    cancelled: "İptal edildi.",
    sandbox: "Korumalı alan başlatılamadı: nedenini `sheaf doctor` söyler.",
    other: "Nedeni yukarıdaki iletidedir; `--verbose` daha çoğunu söyler.",
  },
  toolMissing: (tool, mode) =>
    `Bunun için ${toCode(tool)} aracı gerekir ve ${mode} kipinde sunulmaz. \`--mode agent\` ile yeniden başlatın.`,
  budgetEnds: (action) =>
    `Bu çalışmanın bütçesi bitti. Kalan iş: ${action} Bütçeyi artırın (\`--max-turns\`, \`--max-tool-calls\`, \`--max-tokens\`) ve \`--continue\` ile sürdürün.`,
  summaryInstead: "Özetin kendisi burada:",

  greeting: "Merhaba. Ben Sheaf'in çevrimdışı modeliyim: bir dizi kural, anahtar gerekmez.",
  thanks:
    "Rica ederim. Ben yalnızca Sheaf'in çevrimdışı modeliyim, bir dizi kural; okunacak ya da bulunacak başka ne var?",
  notUnderstood: "Ben Sheaf'in çevrimdışı modeliyim, bir dizi kuralım, ve bu isteme hiçbiri uymuyor.",
  contextNotUnderstood: "İstemle birlikte bir metin geldi ve onu özetleyebilirim: arkasına `bunu özetle` yazın.",
  abilitiesTitle: "Yapabildiklerim:",
  abilities: [
    "okuma ve özetleme: `README.md dosyasını oku ve bir özet çıkar`, `docs/guide.md dosyasını özetle`, `package.json içinde ne var?`; ya da bir metni boruyla verip `bunu özetle` deyin",
    "gösterme: `src/main.ts dosyasını göster`, `src/main.ts dosyasının 10-20. satırlarını göster`",
    "bulma: `src klasöründe TODO ara`, `createServer nerede tanımlı?`, `tüm *.ts dosyalarını bul`",
    "yerleşimi açıklama: `proje yapısını açıkla`, `src klasöründeki dosyaları listele`",
    "çalıştırma: `` `npm test` komutunu çalıştır``, `testleri çalıştır`",
    'yazma ve değiştirme: `"Merhaba" içeriğiyle merhaba.txt oluştur`, `merhaba.txt dosyasında "a" yerine "b" yaz`, `merhaba.txt dosyasını selam.txt olarak yeniden adlandır`, `selam.txt dosyasını sil`',
    "planlama: `TypeScript'e geçiş için plan yap`, `yapılacaklar listesi yap: oku, yaz, dene`",
  ],
  realModel:
    "Bunun dışındaki her şey için gerçek bir model verin: anahtarı ortamda ya da `--api-key` ile `--model anthropic/…` veya `--model openai/…`, ya da yerel bir model: `--model ollama/… --base-url http://localhost:11434/v1`. Bkz. `sheaf --help`.",
};
