import type { Vocabulary } from "./vocabulary.ts";

export const turkish: Vocabulary = {
  language: "tr",
  concepts: {
    about:
      "ne var | neler var | ne hakkında | ne ile ilgili | neyle ilgili | nedir | ne anlat* | ne yazıyor | ne içer* | neler içer* | konusu ne | ne işe yarar | ne işe yarıyor | hakkında bilgi | ne yapar | ne yapıyor",
    all: "tüm | bütün | her | hepsi | hepsini | her yerde",
    ask_me: "bana … sor | bana sor | bana sorun | bana sorar | bana soru | sor bana | soru sor | bana danış",
    asking:
      "nasıl | neden | niçin | ne olur | sakın | asla | silme | silmeyin | çalıştırma | çalıştırmayın | yazma | yazmayın | değiştirme | değiştirmeyin | taşıma",
    command: "komut | komutu | komutunu | komutlar | komutları | terminal | terminalde | kabuk",
    content: "içerik | içeriği | içeriğini | içerikle | içeriğiyle | metin | metni | metnini | yazan",
    count: "kaç | kaç tane | say | sayısı",
    create:
      "oluştur | oluşturun | oluşturur | oluşturup | oluşturabilir | oluşturunuz | çıkar | çıkarın | çıkarır | çıkarıp | çıkarabilir | yarat | hazırla | hazırlar | hazırlayın | yap | yapın | yapar | üret | üretin",
    define: "tanımlı | tanımlanmış | tanımlanıyor | tanımlandı | tanımı | tanımını | bildirilmiş | tanımlanır",
    delete: "sil | silin | siler | silip | silebilir | siliniz | kaldır | kaldırın | kaldırır | sildir",
    empty: "boş",
    explain:
      "nasıl çalışıyor | analiz et* | açıkla | açıklar | açıklayın | açıklayabilir | açıklayıp | anlat | anlatır | anlatın | anlatabilir | tarif et",
    file: "dosya | dosyası | dosyasını | dosyayı | dosyasına | dosyaya | dosyasının | dosyanın | dosyasında | dosyasındaki | dosyada | dosyadan | dosyasından",
    files: "dosyalar | dosyaları | dosyalarını | dosyalarda | dosyaların",
    find: "bul | bulun | bulur | bulup | bulabilir | bulunuz | ara | arayın | arar | arayıp | arayabilir | aratın | grep | geçtiği yer* | hangi dosyalarda | hangi dosyada | geçiyor",
    first: "ilk | baştaki",
    folder:
      "klasör | klasörü | klasörünü | klasöründe | klasöründeki | klasörde | klasörün | dizin | dizini | dizinini | dizininde | dizindeki | dizinde | dizinin",
    greeting: "merhaba | merhabalar | selam | selamlar | günaydın | iyi günler | iyi akşamlar",
    help: "yardım | yardımcı | neler yapabilir* | ne yapabilir* | kimsin | nesin | sen nesin | nasıl çalışıyorsun | nasıl çalışırsın",
    last: "son | sondaki",
    lines:
      "satır | satırı | satırını | satırlar | satırları | satırlarını | satırlarına | satıra | satırdan | satırlık | satırlara | satırın",
    list: "listele | listeler | listeleyin | listeleyebilir | sırala | ls | hangi dosyalar var",
    named: "adlı | isimli | adında | isminde",
    plan: "plan | planı | planını | planla | planlar | planlayın | planlayabilir | planlama",
    project:
      "proje | projeyi | projenin | projesi | projesini | projede | depo | deponun | depoyu | kod tabanı | kod tabanını | kod tabanının",
    read: "oku | okur | okuyun | okuyunuz | okuyup | okuyarak | okuyabilir | okuma | okusana",
    rename: "yeniden adlandır* | adlandır* | adını … değiştir* | ismini … değiştir* | taşı | taşıyın | taşır",
    replace: "değiştir* | yerine … yaz | yerine … koy | düzenle | düzenleyin",
    review:
      "incele | inceler | inceleyin | inceleyip | inceleyebilir | gözden geçir* | kontrol et* | değerlendir* | denetle",
    run: "çalıştır | çalıştırın | çalıştırır | çalıştırıp | çalıştırabilir | çalıştırınız | yürüt | yürütün | koştur | başlat",
    show: "göster | gösterin | gösterir | gösterebilir | görüntüle | görüntüleyin | yazdır | aç | açın | ekrana",
    structure:
      "yapı | yapısı | yapısını | yapıyı | yapısının | mimari | mimarisi | mimarisini | düzeni | düzenini | yerleşimi | yerleşimini",
    summarise:
      "özetle | özetler | özetleyin | özetleyip | özetleyebilir | özetlesene | özetleyerek | özet geç | ana noktalar*",
    summary: "özet | özeti | özetini | özetin | özetinin | genel bakış",
    tests: "test | testleri | testler | testi",
    thanks: "teşekkürler | teşekkür | sağol | sağ ol | eyvallah",
    this: "bu | bunu | bunun | bunları | şu | şunu | onu | onun | yukarıdaki | aşağıdaki",
    todo_list: "yapılacak* list* | yapılacaklar | görev list* | todo list* | todo listesi | kontrol list* | iş list*",
    used: "kullanılıyor | kullanılan | kullanıyor | kullanan | kullanır | çağırıyor",
    where: "nerede | nerde | neresi | neresinde | nereden",
    write: "yaz | yazın | yazar | yazıp | yazabilir | yazınız | kaydet | kaydedin | kaydeder | kaydedip",
  },
  glue: "lütfen | bir | ve | ile | de | da | mi | mı | mu | mü | için | olan | olarak | bana | benim | beni | sonra | ardından | içinde | içindeki | içerisinde | altında | altındaki | hangi | ne | var | geçen | kelime | kelimesini | kelimesi | sözcüğünü | ifadesini | metnini | fonksiyon | fonksiyonu | sınıf | sınıfı | metodu | değişken | değişkeni | misin | mısın | musun | müsün | misiniz | rica | ederim | nasıl | kod | kodu | kodda | şimdi | önce | kim | yi | yı | yu | yü | i | ı | u | ü | e | a | ye | ya | nin | nın | nun | nün | in | ın | un | ün | den | dan | te | ta | deki | daki",
  targetBefore: /^$(?!)/,
  targetAfter:
    /^['’]?(?:ye|ya|e|a|ne|na)(?:\s|$)|^\s(?:dosyasina|dosyaya|adiyla|ismiyle|olarak|icine|adli dosyaya|isimli dosyaya|adli|isimli)(?:\s|$)/,
  folderBefore: /^$(?!)/,
  folderAfter:
    /^['’]?(?:de|da|te|ta|deki|daki|teki|taki)(?:\s|$)|^\s(?:klasor|dizin)[a-z]{0,12}|^\s(?:icinde|icindeki|icerisinde|altinda|altindaki)(?:\s|$)/u,
  planGoals: [
    /^(.+?)\s{1,3}(?:için|icin)\s{1,3}(?:bir\s{1,3})?plan\b/is,
    /^(.+?)(?:['’]?[yn]?[iıuü])?\s{1,3}planla/is,
    /\bplan\b\s{0,3}(?:yap|oluştur|hazırla)?\s{0,3}:?\s{0,3}(.+)$/is,
  ],
  behindCommand:
    /(?:\s(?:komutunu|komutu|lütfen|lutfen)?\s{0,2}(?:çalıştır|calistir|yürüt|yurut|koştur|kostur|başlat|baslat).*$|\s(?:komutunu|komutu|lütfen|lutfen)\b.*$|['’][yn]?[iıuü](?:\s.*)?$)/is,
};
