/** What failed and what to do about it, in Turkish. */
import type { englishFailures } from "./english-failures.ts";

const sendAgain = "Mesajı yeniden gönderin.";
const goOn = "Sürdürmek için “devam et” yazın.";
const otherWords = "Mesajınızı başka türlü ifade edin ya da başka bir model seçin.";

export const turkishFailures: typeof englishFailures = {
  answer: {
    INTERNAL: ["Sheaf’te bir sorun oluştu", "Bu bir yazılım hatası. Lütfen ayrıntılarıyla bildirin."],
    USAGE: ["İstek kabul edilmedi", "Neyin değişmesi gerektiği aşağıdaki satırda yazıyor."],
    CONFIG_INVALID: ["Sunucunun yapılandırması geçersiz", "Sunucuyu yöneten kişi düzeltebilir."],
    AUTH_REQUIRED: [
      "Bu sağlayıcının API anahtarı yok",
      "Anahtarı sunucuya ortam değişkeniyle ya da sunucuda `sheaf login` komutuyla verin.",
    ],
    AUTH_REJECTED: [
      "Sağlayıcı API anahtarını kabul etmedi",
      "Anahtarı sunucuda `sheaf status` komutuyla kontrol edin.",
    ],
    PROVIDER_REJECTED: [
      "Sağlayıcı isteği reddetti",
      "Başka bir model seçin ya da aşağıdaki satırda belirtileni değiştirin.",
    ],
    CONTEXT_LENGTH: [
      "Sohbet model için çok uzun",
      "Yeni bir sohbet başlatın ya da bağlam penceresi daha büyük bir model seçin.",
    ],
    CONTENT_FILTER: ["Sağlayıcının içerik filtresi yanıtı durdurdu", otherWords],
    MODEL_NOT_FOUND: ["Bu model kullanılamıyor", "Başka bir model seçin."],
    RATE_LIMITED: ["Çok fazla istek gönderildi", "Biraz bekleyip mesajı yeniden gönderin."],
    OVERLOADED: ["Sağlayıcı aşırı yüklü", "Daha sonra yeniden deneyin ya da başka bir model seçin."],
    NETWORK: ["Sunucu sağlayıcıya ulaşamıyor", "Sunucunun bağlantısını kontrol edip mesajı yeniden gönderin."],
    STREAM_STALLED: ["Sağlayıcı artık yanıt vermiyor", sendAgain],
    STREAM_TRUNCATED: ["Sağlayıcı yanıtı yarıda kesti", sendAgain],
    EMPTY_ANSWER: ["Model boş bir yanıt verdi", "Mesajı yeniden gönderin ya da başka bir model seçin."],
    MAX_TOKENS: ["Yanıt, modelin uzunluk sınırına ulaştı", goOn],
    REFUSED: ["Model yanıt vermeyi reddetti", otherWords],
    OUTPUT_INVALID: ["Yanıt istenen biçimde değil", sendAgain],
    LOOP_DETECTED: ["Model aynı şeyi yineleyip durdu", "Bunun yerine ne yapması gerektiğini söyleyin."],
    BUDGET_TURNS: ["Adım sınırına ulaşıldı", goOn],
    BUDGET_TOOLS: ["Araç çağrısı sınırına ulaşıldı", goOn],
    BUDGET_TOKENS: ["Token sınırına ulaşıldı", goOn],
    BUDGET_COST: ["Maliyet sınırına ulaşıldı", "Sunucuyu yöneten kişi sınırı yükseltebilir."],
    BUDGET_TIME: ["Süre sınırına ulaşıldı", goOn],
    PERMISSION_REQUIRED: ["Gerekli izin yok", "Sunucuyu yöneten kişi bir kuralla izin verebilir."],
    SANDBOX_UNAVAILABLE: [
      "Komutlar burada çalıştırılamıyor",
      "Sunucuyu yöneten kişi korumalı alanı kurabilir: `sheaf doctor` nasıl yapılacağını gösterir.",
    ],
    STORAGE_FULL: ["Sunucunun diski dolu", "Yer açıp mesajı yeniden gönderin."],
    STORAGE_LOCKED: ["Sunucunun deposu kullanımda", sendAgain],
    STORAGE_CORRUPT: ["Sunucunun deposu bozuk", "Sunucuyu yöneten kişi `sheaf doctor` ile kontrol edebilir."],
    CONVERSATION_BUSY: ["Burada başka bir yanıt yazılıyor", "Durdurun ya da bitmesini bekleyin."],
    NEEDS_INPUT: ["Modelin bir sorusu var", "Sürdürmek için yanıtlayın."],
    CANCELLED: ["Durduruldu", ""],
  },
  step: {
    BINARY_FILE: "İkili dosya",
    COMMAND_NOT_STARTED: "Komut başlatılamadı",
    DISK_FULL: "Disk dolu",
    FILE_EXISTS: "Dosya zaten var",
    FILE_NOT_FOUND: "Dosya bulunamadı",
    FILE_TOO_LARGE: "Dosya çok büyük",
    INVALID_ARGUMENTS: "Geçersiz araç çağrısı",
    INVALID_PATTERN: "Geçersiz arama deseni",
    PATH_OUTSIDE_WORKSPACE: "Çalışma alanının dışında",
    PERMISSION_DENIED: "İzin verilmedi",
    PROTECTED_PATH: "Korunan dosya",
    READ_ONLY: "Salt okunur dosya",
    SEARCH_FAILED: "Arama başarısız oldu",
    STALE_FILE: "Dosya bu arada değişti",
    TOOL_FAILED: "Araç başarısız oldu",
    UNKNOWN_TOOL: "Bilinmeyen araç",
    WEB_SEARCH_FAILED: "Web araması başarısız oldu",
  },
};
