//! Word lists that decide which words a label can consist of.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Words that a noun usually follows.
const BEFORE_NOUNS: &str = "a an the my your his her its our their this that these those some any no another every each of in on at \
    for from with about into over under through without by during after before near around like via";
/// Words that a verb usually follows.
const BEFORE_VERBS: &str = "i you he she we they it who to will would can could should shall may might must don't didn't doesn't \
    won't can't couldn't wouldn't i'm i've i'd i'll you're you've you'd you'll we're we've we'd we'll they're they've he's \
    she's it's let's not never just really always still already finally also please did do does am is are was were be been \
    being have has had gonna wanna and";
/// Words that are too general for a label.
const GENERIC: &str = "time times day days week weeks weekend month months year years today tomorrow yesterday tonight morning \
    evening afternoon night hour hours minute minutes second seconds way ways lot lots bit kind sort stuff something anything \
    nothing everything someone anyone everyone nobody people person guy guys man men woman one ones two three four five six seven \
    eight nine ten eleven twelve thirteen fourteen fifteen sixteen eighteen twenty thirty forty fifty sixty hundred thousand \
    million half third first last next new old good great nice best better bad big little small long short whole \
    own sure right left wrong real true full part end start side place point case fact idea question answer reason \
    problem matter example number image asked photo picture news word words fun love hope luck deal moment life world \
    january february march april may june july august september october november december monday tuesday wednesday \
    thursday friday saturday sunday nov dec jan feb worth able ready different same many much few several other others thing \
    things while ago late early soon later maybe perhaps course rest line back home look sounds sound happy glad proud amazing \
    awesome cool wonderful beautiful lovely congrats god gosh user assistant agent environment step steps sorry none ever \
    else instead together almost enough quite rather pretty plus per each daft yours mine change name feeling \
    work thought though need want job friend friends family total actually wait forward turn turns type ok haha hahaha lol \
    hey hello bye amen shame fuss mercy fingers hug drama bag top bottom middle front inside outside sight euros euro pounds \
    dollars percent euros clock date gap sad angry afraid young tiny huge tall easy hard cold warm hot dry wet high low deep \
    red green blue white black brown yellow pink grey gray ugly slow fast rough poor dear honest free";
/// Abbreviations of units, which name no topic: "12 min".
const UNITS: &str = "min mins sec secs hrs wks yrs lbs kwh ghz mhz fps mph kph pct";
/// Words that say too little alone, but may be part of a pair: "tool shed", "call centre".
const VAGUE_ALONE: &str = "tool tools call calls result results output outputs input inputs item items detail details \
    information info data value values list lists option options status update updates request requests response \
    responses reply replies task tasks topic topics plan plans note notes message messages thing command commands \
    function functions session sessions entry entries content contents object objects";
/// Everyday verbs, in the forms that occur after a noun.
const VERBS: &str = "say says said tell tells told ask asks come comes came go goes went gone get gets got give gives gave given \
    take takes took taken make makes made put puts keep keeps kept let lets leave leaves see sees saw seen know knows knew \
    think thinks feel feels felt find finds found hold holds held bring brings brought buy buys bought sell sells sold send \
    sends sent pay pays paid spend spent stay stays stand stands stood sit sits sat lie lies lay run runs ran win wins won \
    lose loses lost cost costs eat eats ate eaten drink drank sleep sleeps slept drive drives drove fly flew fall falls fell \
    grow grows grew break breaks broke broken speak speaks spoke write writes wrote written read reads hear hears heard mean \
    means meant meet meets met show shows build builds built begin begins began forget forgets forgot hide hid wear wears wore \
    catch catches caught teach teaches taught throw threw sing sings sang rise rose hang hangs hung cut cuts hit hits hurt hurts \
    set sets shut become becomes became happen happens live lives die dies try tries wants needs loves likes hates looks \
    seems works helps arrive arrives survive survives move moves open opens close closes use uses call calls start starts \
    stop stops play plays turned talk talks walk walks wait waits join joins finish finishes learn learns check checks \
    add adds save saves fix fixes remember remembers bet swear guess reckon reckons laugh laughs cry cries smell smells \
    smile smiles arrive hand hands pick picks pull pulls push pushes drop drops fit fits pass follow follows";
/// Function words of other languages with Latin letters: German, French, Spanish, Portuguese, Italian, Dutch, Polish.
const ELSEWHERE: &str = "der die das den dem des ein eine einen einem einer und oder aber nicht auch auf aus bei mit nach von vor zum zur \
    für über ist sind war wird wir ihr sie ich mich mir dich dir wie was wer wenn dann noch schon nur sehr mal kein keine hat habe \
    haben bin bist dass doch immer heute hier les une des est sont pas pour avec dans sur qui que quoi elle nous vous ils mais aussi \
    très bien tout tous cette ces mon ton son mes tes ses leur oui non plus être avoir fait los las una uno unos del por para con \
    sin pero como más muy qué quién cuando donde está están eres soy hay todo todos esta este estos esas mis tus sus nos sí ella \
    ellos nosotros yo também não uma uns umas dos nas nos pelo pela com sem mas muito foi são está ele ela eles vocês você \
    isso esse essa meu minha teu tua seu sua até já quando onde agora aqui fim gli della delle degli dei nel nella che chi non sono \
    sei è anche molto questo questa mio mia tuo tua suo sua perché come dove quando sempre het een van voor naar niet maar ook \
    zijn was heb heeft hij zij wij jullie dit dat deze die nog wel geen waar hoe wat nie jest się na do od za co jak tak ale czy \
    bardzo już tylko jestem są był była być mam masz";

static NOUNS_NEXT: LazyLock<HashSet<&str>> = LazyLock::new(|| BEFORE_NOUNS.split_whitespace().collect());
static VERBS_NEXT: LazyLock<HashSet<&str>> = LazyLock::new(|| BEFORE_VERBS.split_whitespace().collect());
static GENERAL: LazyLock<HashSet<&str>> =
    LazyLock::new(|| GENERIC.split_whitespace().chain(UNITS.split_whitespace()).collect());
static VAGUE: LazyLock<HashSet<&str>> = LazyLock::new(|| VAGUE_ALONE.split_whitespace().collect());
static USUAL: LazyLock<HashSet<&str>> = LazyLock::new(|| VERBS.split_whitespace().collect());
static FOREIGN: LazyLock<HashSet<&str>> = LazyLock::new(|| ELSEWHERE.split_whitespace().collect());

/// Returns true if a noun usually follows this lower-case word.
pub(super) fn opens_noun(word: &str) -> bool {
    NOUNS_NEXT.contains(word)
}

/// Returns true if a verb usually follows this lower-case word.
pub(super) fn opens_verb(word: &str) -> bool {
    VERBS_NEXT.contains(word)
}

/// Returns true if a lower-case word is too general for a label.
pub(super) fn is_general(word: &str) -> bool {
    GENERAL.contains(word)
}

/// Returns true if a lower-case word says too little to be a label or keyword by itself.
pub(in crate::topics) fn is_vague_alone(word: &str) -> bool {
    VAGUE.contains(word)
}

/// Returns true if a lower-case word is a function word.
pub(super) fn is_function(word: &str) -> bool {
    text::is_stop(word) || FOREIGN.contains(word)
}

/// Returns true if a lower-case word is a verb or resembles one: a form of an everyday verb, a participle, or an
/// adverb.
pub(super) fn is_verb(word: &str) -> bool {
    USUAL.contains(word) || word.len() > 4 && ["ed", "ly"].iter().any(|it| word.ends_with(it))
}
