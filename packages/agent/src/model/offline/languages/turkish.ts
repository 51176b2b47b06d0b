import type { Language } from "./english.ts";

export const turkish: Language = {
  code: "tr",
  words: `
about: ne var | neler var | ne hakkında | ne ile ilgili | neyle ilgili | nedir | ne anlat* | ne yazıyor | ne içer* | neler içer* | konusu ne | ne işe yarar | ne işe yarıyor | hakkında bilgi | ne yapar | ne yapıyor | nasıl çalışıyor | analiz et* | açıkla | açıklar | açıklayın | açıklayabilir | açıklayıp | anlat | anlatır | anlatın | anlatabilir | tarif et | kaç | kaç tane | say | sayısı | incele | inceler | inceleyin | inceleyip | inceleyebilir | gözden geçir* | kontrol et* | değerlendir* | denetle
ask_me: bana … sor | bana sor | bana sorun | bana sorar | bana soru | sor bana | soru sor | bana danış
asking: nasıl | neden | niçin | ne olur | sakın | asla | silme | silmeyin | çalıştırma | çalıştırmayın | yazma | yazmayın | değiştirme | değiştirmeyin | taşıma
delete: sil | silin | siler | silip | silebilir | siliniz | kaldır | kaldırın | kaldırır | sildir
file: dosya | dosyası | dosyasını | dosyayı | dosyasına | dosyaya | dosyasının | dosyanın | dosyasında | dosyasındaki | dosyada | dosyadan | dosyasından | dosyalar | dosyaları | dosyalarını | dosyalarda | dosyaların
find: bul | bulun | bulur | bulup | bulabilir | bulunuz | ara | arayın | arar | arayıp | arayabilir | aratın | grep | geçtiği yer* | hangi dosyalarda | hangi dosyada | geçiyor | nerede | nerde | neresi | neresinde | nereden | tanımlı | tanımlanmış | tanımlanıyor | tanımlandı | tanımı | tanımını | bildirilmiş | tanımlanır
help: yardım | yardımcı | neler yapabilir* | ne yapabilir* | kimsin | nesin | sen nesin | nasıl çalışıyorsun | nasıl çalışırsın | merhaba | merhabalar | selam | selamlar | günaydın | iyi günler | iyi akşamlar | teşekkürler | teşekkür | sağol | sağ ol | eyvallah
lines: satır | satırı | satırını | satırlar | satırları | satırlarını | satırlarına | satıra | satırdan | satırlık | satırlara | satırın
list: listele | listeler | listeleyin | listeleyebilir | sırala | ls | hangi dosyalar var
plan: plan | planı | planını | planla | planlar | planlayın | planlayabilir | planlama
project: proje | projeyi | projenin | projesi | projesini | projede | depo | deponun | depoyu | kod tabanı | kod tabanını | kod tabanının | yapı | yapısı | yapısını | yapıyı | yapısının | mimari | mimarisi | mimarisini | düzeni | düzenini | yerleşimi | yerleşimini
rename: yeniden adlandır* | adlandır* | adını … değiştir* | ismini … değiştir* | taşı | taşıyın | taşır
replace: değiştir* | yerine … yaz | yerine … koy | düzenle | düzenleyin
run: çalıştır | çalıştırın | çalıştırır | çalıştırıp | çalıştırabilir | çalıştırınız | yürüt | yürütün | koştur | başlat
show: göster | gösterin | gösterir | gösterebilir | görüntüle | görüntüleyin | yazdır | aç | açın | ekrana | oku | okur | okuyun | okuyunuz | okuyup | okuyarak | okuyabilir | okuma | okusana
summarise: özetle | özetler | özetleyin | özetleyip | özetleyebilir | özetlesene | özetleyerek | özet geç | ana noktalar* | özet | özeti | özetini | özetin | özetinin | genel bakış
tests: test | testleri | testler | testi
this: bu | bunu | bunun | bunları | şu | şunu | onu | onun | yukarıdaki | aşağıdaki
todo_list: yapılacaklar list* | yapılacaklar | görev list* | todo list* | todo listesi | kontrol list* | iş list*
write: oluştur | oluşturun | oluşturur | oluşturup | oluşturabilir | oluşturunuz | çıkar | çıkarın | çıkarır | çıkarıp | çıkarabilir | yarat | hazırla | hazırlar | hazırlayın | yap | yapın | yapar | üret | üretin | yaz | yazın | yazar | yazıp | yazabilir | yazınız | kaydet | kaydedin | kaydeder | kaydedip
glue: lütfen | bir | ve | ile | de | da | mi | mı | mu | mü | için | olan | olarak | bana | benim | beni | sonra | ardından | içinde | içindeki | içerisinde | altında | altındaki | hangi | ne | var | geçen | kelime | kelimesini | kelimesi | sözcüğünü | ifadesini | metnini | fonksiyon | fonksiyonu | sınıf | sınıfı | metodu | değişken | değişkeni | misin | mısın | musun | müsün | misiniz | rica | ederim | nasıl | kod | kodu | kodda | şimdi | önce | kim | yi | yı | yu | yü | i | ı`,
  target:
    /([\uE000-\uF8FF])['’]?(?:(?:ye|ya|e|a|ne|na)(?:\s|$)|\s(?:dosyasina|dosyaya|adiyla|olarak|icine|adli)(?:\s|$))/g,
  folder: /([\w.-]+?)(?:['’]?(?:deki|daki|de|da)\s|\s(?:klasor|dizin|icinde|altinda))/,
  goals: [/^(.+?)\s{1,3}(?:için|icin)\s{1,3}(?:bir\s{1,3})?plan\b/is, /^(.+?)(?:['’]?[yn]?[iıuü])?\s{1,3}planla/is],
  term: /^(?:.*(?:klasöründe|içinde|dizininde|'?da|'?de) )?(.+?) (?:kelimesini |ifadesini )?(?:ara|bul|nerede)/i,
  phrases: {
    introduction: "Yanıt, Sheaf'in çevrimdışı modelinden (kural tabanlı, anahtar gerekmez).",
    summaryFile: [
      "Ben, kural tabanlı çevrimdışı model, ",
      "{0} dosyasını okuyacağım",
      " ve {1} dosyasına bir özet çıkaracağım.",
    ],
    calling: "{0} aracını {1} ile çağırıyorum.",
    failed: "{0}, {1} için başarısız oldu:",
    toolMissing: "Bunun için {0} aracı gerekir ve {1} kipinde sunulmaz. `--mode agent` ile yeniden başlatın.",
    budgetEnds:
      "Bu çalışmanın bütçesi bitti. Kalan iş: {0} Bütçeyi artırın (`--max-turns`, `--max-tool-calls`, `--max-tokens`) ve `--continue` ile sürdürün.",
    title: "{0} Özeti",
    origin: "Kaynak: {0} ({1}). Sheaf'in çevrimdışı modeliyle çıkarıldı: cümleler seçildi, hiçbiri uydurulmadı.",
    counts: "satır: {0}, karakter: {1}, başlık: {2}",
    purpose: "Amaç",
    commands: "Komutlar",
    outline: "Başlıklar",
    and: " ve ",
    more: "… ve {0} tane daha",
    nothing: "{0} için bir şey bulunamadı.",
    done: "Tamam: {0}.",
    planTitle: "Plan: {0}",
    planOverview: '"{0}" için, klasördeki adlardan kurallarla yapılmış ilk plan; kodu değil, yerleşimi bilir.',
    look: "{0} oku ve var olanı not et",
    goal: '"{0}" bittiğinde nasıl anlaşılacağını bir örnekle yaz',
    tests: "örnek ve bir hata durumu için test ekle",
    check: "{0} komutunu çalıştır",
    missing: "Bir bilgi eksik:",
    questions: {
      file: "Hangi dosya?",
      command: "Hangi komut?",
      term: "Ne aransın?",
      goal: "Ne planlansın?",
      content: "Dosyada ne yazsın?",
      items: "Listede neler olsun? Maddeleri virgülle ayırın.",
      task: "Ne yapılsın?",
      names: "Dosyanın adı ne olsun?",
    },
    tasks: ["{0} dosyasını özetle", "Proje yapısını açıkla", "Dosyaları listele", "Neler yapabilirsin?"],
    notUnderstood: "Ben Sheaf'in çevrimdışı modeliyim, bir dizi kuralım, ve bu isteme hiçbiri uymuyor.",
    abilities: `- okuma ve özetleme: \`README.md dosyasını oku ve bir özet çıkar\`, \`docs/guide.md dosyasını özetle\`, \`package.json içinde ne var?\`; ya da bir metni boruyla verip \`bunu özetle\` deyin
- gösterme: \`src/main.ts dosyasını göster\`, \`src/main.ts dosyasının 10-20. satırlarını göster\`
- bulma: \`src klasöründe TODO ara\`, \`createServer nerede tanımlı?\`, \`tüm *.ts dosyalarını bul\`
- yerleşimi açıklama: \`proje yapısını açıkla\`, \`src klasöründeki dosyaları listele\`
- çalıştırma: \`\` \`npm test\` komutunu çalıştır\`\`, \`testleri çalıştır\`
- yazma ve değiştirme: \`"Merhaba" içeriğiyle merhaba.txt oluştur\`, \`merhaba.txt dosyasında "a" yerine "b" yaz\`, \`merhaba.txt dosyasını selam.txt olarak yeniden adlandır\`, \`selam.txt dosyasını sil\`
- planlama: \`TypeScript'e geçiş için plan yap\`, \`yapılacaklar listesi yap: oku, yaz, dene\``,
    realModel:
      "Bunun dışındaki her şey için gerçek bir model verin: anahtarı ortamda ya da `--api-key` ile `--model anthropic/…` veya `--model openai/…`, ya da yerel bir model: `--model ollama/… --base-url http://localhost:11434/v1`. Bkz. `sheaf --help`.",
  },
};
