//! Words of sensitive subjects in German, Spanish, French, Italian, Portuguese, Dutch and Chinese. They are searched in
//! every text, whatever its language. A word that is an everyday word in English or in another of these languages is
//! left out.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Domains;

/// Words in lower case. An entry that ends with `*` is the beginning of words.
const WORDS: [(Domains, &str); 6] = [
    (
        Domains::HEALTH,
        "krebs krebsdiagnose* krebskrank* brustkrebs* lungenkrebs* hautkrebs* darmkrebs* blutkrebs* krankheit* erkrank* krankenhaus* \
         klinik* chemotherap* diagnostizier* depressiv* depressionen therapeut therapeuten therapeutin psychiat* tabletten \
         medikament* schwanger* fehlgeburt* abtreib* abgetrieben unfruchtbar* operiert* schlaganf* epilep* demenz* \
         süchtig* drogensucht alkoholiker* alkoholkrank* alkoholsucht* überdosis selbstmord* suizid* magersucht* bulimi* \
         anorexi* diabeti* rollstuhl* migräne* schlaflosigkeit herzinfarkt* \
         cáncer* quimioterapi* enfermedad* diagnosticad* diagnosticaron depresión deprimid* \
         terapeuta terapeutas pastillas medicamento* medicación embaraz* aborto* infertilidad cirugía* operado operada operaron \
         hospitalizad* hospitales infarto* demencia* adicción adicto adicta alcohólico alcohólica alcoholismo sobredosis \
         suicid* insomnio migraña* \
         cancer* cancér* chimio* maladie* dépression* dépressif* dépressive* déprim* thérapeute* médicament* enceinte* \
         grossesse* avortement* avorté* infertilité stérilité opéré* hôpita* clinique* avc épilep* démence alcooli* \
         boulimi* insomni* diabét* diabèt* diagnostiqu* \
         cancro tumore tumori chemiotera* malattia malattie depresso depressa depressione depressivo psichiatr* psicofarmac* pillole \
         incinta incinte gravidanz* sterilità operato operata operarono ospedal* clinica cliniche ictus epiless* demenza tossicodipend* alcolizzat* \
         alcolist* insonnia emicrani* diagnosticat* \
         câncer* doença* depressão psiquiatr* remédios comprimidos grávida* gravidez cirurgia* viciado viciada \
         alcoólatra* suicíd* insônia enxaqueca* \
         kanker* borstkanker* longkanker* huidkanker* darmkanker* ziekte* ziekenhui* depressief depressieve pillen medicijn* zwanger* \
         miskra* abortus onvruchtbaar* geopereerd* beroerte hartaanval* hartinfarct* dementie verslaafd* verslaving* \
         alcoholist* zelfmoord* slapeloosheid suikerziekte rolstoel* gediagnosticeerd*",
    ),
    (
        Domains::MONEY,
        "gehalt gehälter gehaltserhöhung* lohn löhne schulde schuldet schulden* verschulde* kredit kredite kredits darlehen insolven* \
         pleite* ersparnisse* rente erbschaft* geerbt gerichtsvollzieher* hypothek* mietrückst* zwangsräumung* arbeitslos* gläubiger* einkommen* steuerschuld* \
         salario* sueldo* deuda* endeuda* préstamo* hipoteca* bancarrota* ahorros jubilación herencia* desahucio* \
         desemplead* desempleo acreedor* impuesto* \
         salaire* dette* endett* emprunt* hypothèque* faillite* épargne héritage* huissier* chômage chômeu* créancier* impôt* \
         stipendio stipendi debito debiti indebitat* prestito prestiti mutuo ipotec* fallimento risparmi eredità sfratto \
         disoccupat* reddito \
         salário* dívida* endivida* empréstimo* falência* poupança* aposentadoria herança* despejo* desempreg* credor* \
         imposto impostos \
         salaris* hypotheek* loonstrook* lening* failliet* spaargeld pensioen* erfenis* deurwaarder* huurachterstand* werkloos* \
         werkloze* schuldeiser* belastingen belastingschuld* inkomen*",
    ),
    (
        Domains::FAITH,
        "gott gottes moschee* synagog* gebet gebete beten betet betete getauft* taufe beichte* bibel* koran atheist* moslem* musulm* \
         muslim* christlich* jüdisch* juden jüdin buddhis* katholi* religi* gläubig* pfarrer* priester* rabbiner* \
         dios mezquita* sinagog* rezar rezo rezando bautiz* biblia* corán ateo atea judío judía judíos budista* \
         católic* sacerdot* rabino* \
         dieu mosquée* prière* baptême* baptisé* athée* chrétien* juif juive juifs bouddhis* catholi* curé prêtre* rabbin \
         gesù moschea preghier* battesim* battezzat* bibbia corano mussulman* ebreo ebrea ebrei ebraic* buddis* cattolic* prete preti \
         deus mesquita* rezamos batism* batizad* bíblia* alcorão ateu ateia muçulman* judeu* judia \
         moskee* gebed* bidden bidt gedoopt* biecht* bijbel* atheïst* christelijk* joods* boeddhis* gelovig* dominee* rabbijn*",
    ),
    (
        Domains::LOVE,
        "scheidung* geschieden* affäre* betrogen fremdgegangen fremdgeh* trennung* getrennt* verliebt* schwul* lesb* bisex* bisess* \
         transsexu* sexu* sorgerecht* eifersücht* eifersucht* exfreund* exmann exfrau \
         divorc* amante* infiel infidelidad* engañó separación separad* novia novio novios celosa celoso celos \
         exmarido exmujer exnovi* homosexu* enamorad* \
         infidèle* infidélité* trompée séparation* séparé* amoureu* jalou* \
         divorzi* tradito tradita tradimento separato separata separati separazione fidanzat* gelos* innamorat* omosess* sessual* \
         divórci* traiu traição* separação namorad* namoro ciúme* ciument* sexo apaixonad* \
         echtscheiding* scheiding gescheiden vreemdgegaan vreemdgaan minnaar* minnares* relatiebreuk verliefd* homoseks* seks* biseks* \
         voogdij jaloers*",
    ),
    (
        Domains::LAW,
        "polizei* verhaft* festgenommen amtsgericht* landgericht* verklagt* anklage* angeklagt* anwältin* anwalt* gefängnis* knast \
         haftstrafe* straftat* verbrech* kriminell* verurteil* geldstrafe* kaution asyl* abgeschob* abschiebung* visum \
         aufenthaltserlaubnis* einwanderung* gestohlen* diebstahl* \
         policía* arrestad* detenid* tribunal* juzgado* juicio* demandado demandada demandaron abogad* cárcel* prisión delito* \
         condenad* fianza inmigra* deportad* robaron robado robada hurto \
         tribunaux procès plainte délit* condamn* immigré* expulsé* cambriol* emprisonn* incarcér* \
         polizia arrestat* carabinieri denunci* querela avvocat* prigion* carcer* reato reati condannat* immigra* \
         espuls* rubato rubata rubati furto furti \
         polícia* prenderam prisão advogad* cadeia criminos* fiança imigra* roubad* roubaram roubo furtaram \
         politie* gearresteerd* rechtbank* rechtszaak* aangeklaagd* advocaat advocaten gevangenis* misdaad* misdrijf* veroordeel* \
         boete boetes borgtocht immigrat* asiel* diefstal*",
    ),
    (
        Domains::GRIEF,
        "beerdig* begräbnis* bestatt* gestorben verstorben* verstarb starb tod todesfall* todestag* trauer* witwe* friedhof* \
         eingeäschert* \
         funerales murió murieron muerte* muerto muerta muertos fallec* entierro* enterramos luto viud* tumba tumbas \
         incinerad* \
         funér* enterre* mort morte morts mourut décès décéd* deuil veuf veuve* cimetière* obsèques incinér* \
         funerale funerali morto morta morti decedut* decesso sepolt* seppell* lutto vedov* tomba cremat* cimitero necrolog* \
         velório* morreu morreram mortes enterrad* viúv* túmulo* cremad* cemitério* \
         begrafenis* begraven overleden overlijd* stierf stierven dood rouw* weduw* gecremeerd* uitvaart*",
    ),
];

/// Entries for scripts without spaces. They match anywhere in a text.
const SIGNS: [(Domains, &str); 6] = [
    (
        Domains::HEALTH,
        "癌 肿瘤 化疗 抑郁 焦虑症 怀孕 流产 堕胎 不孕 手术 医院 住院 糖尿病 中风 癫痫 痴呆 自杀 艾滋 心脏病 疾病 确诊 精神科 心理医生 \
         失眠 偏头痛 吸毒 酗酒 轮椅",
    ),
    (
        Domains::MONEY,
        "工资 薪水 欠债 欠钱 欠款 债务 负债 贷款 房贷 破产 存款 养老金 遗产 失业 收入 交税",
    ),
    (
        Domains::FAITH,
        "上帝 耶稣 真主 清真寺 祈祷 祷告 受洗 忏悔 圣经 古兰经 无神论 穆斯林 基督 犹太 佛教 天主教 宗教 信仰 牧师 神父 斋月",
    ),
    (
        Domains::LOVE,
        "离婚 外遇 出轨 劈腿 分手 前男友 前女友 前夫 前妻 约会 男朋友 女朋友 男友 女友 暗恋 同性恋 双性恋 变性 性爱 抚养权 分居 吃醋 \
         嫉妒 情人",
    ),
    (
        Domains::LAW,
        "警察 逮捕 被捕 法院 法庭 起诉 官司 律师 监狱 坐牢 缓刑 犯罪 判刑 罚款 保释 移民 签证 庇护 驱逐出境 被偷 盗窃",
    ),
    (
        Domains::GRIEF,
        "葬礼 去世 死了 死亡 过世 逝世 埋葬 坟墓 哀悼 悼念 寡妇 鳏夫 火化 讣告",
    ),
];

/// Whole words, then beginnings of words.
static LEXICON: LazyLock<[HashMap<&str, Domains>; 2]> = LazyLock::new(|| {
    let mut lexicon = [HashMap::new(), HashMap::new()];
    for (domain, list) in WORDS {
        for word in list.split_ascii_whitespace() {
            let start = word.strip_suffix('*');
            let entry: &mut Domains = lexicon[usize::from(start.is_some())]
                .entry(start.unwrap_or(word))
                .or_default();
            *entry = entry.union_with(domain);
        }
    }
    lexicon
});

/// Returns the sensitive subjects of a text; `lower` are its words in lower case.
pub(super) fn find_native_domains(text: &str, lower: &[String]) -> Domains {
    let [whole_words, starts] = &*LEXICON;
    let mut found = Domains::default();
    // "l'hôpital" contains the word for hospital.
    for word in lower.iter().flat_map(|it| it.split('\'')) {
        let ends = word.char_indices().map(|(at, it)| at + it.len_utf8());
        let begun = ends.filter_map(|end| starts.get(&word[..end]));
        found = whole_words
            .get(word)
            .into_iter()
            .chain(begun)
            .fold(found, |sum, it| sum.union_with(*it));
    }
    for (domain, list) in SIGNS {
        if list.split_ascii_whitespace().any(|it| text.contains(it)) {
            found = found.union_with(domain);
        }
    }
    found
}
