//! Word lists of the rules for facts. English.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Words that are looked up.
pub(super) type List = LazyLock<HashSet<&'static str>>;

/// A list written as one text.
macro_rules! list {
    ($(#[$doc:meta])* $name:ident, $words:literal) => {
        $(#[$doc])*
        pub(super) static $name: List = LazyLock::new(|| $words.split_whitespace().collect());
    };
}

list! {
    /// Family, friends and people at work, as they stand after "my".
    KIN,
    "mum mom mother mama mam dad father papa parents brother brothers sister sisters sis son sons daughter \
     daughters wife husband partner boyfriend girlfriend fiance fiancé fiancee fiancée spouse ex grandma \
     grandpa grandmother grandfather gran granny nan grandad granddad grandparents grandson granddaughter \
     grandchildren aunt auntie uncle cousin cousins niece nephew stepmother stepfather stepson stepdaughter \
     stepbrother stepsister godmother godfather godson goddaughter twin twins kid kids child children baby \
     friend friends mate flatmate flatmates roommate roommates housemate neighbour neighbor neighbours \
     neighbors colleague colleagues coworker boss manager supervisor landlord landlady tenant teacher tutor \
     coach therapist doctor dentist vet mother-in-law father-in-law sister-in-law brother-in-law son-in-law \
     daughter-in-law in-laws bestie siblings sibling family student students pupils tenants employees patients"
}
list! {
    /// Children, as they are counted.
    CHILDREN,
    "boys girls boy girl toddlers toddler teenagers teenager"
}
list! {
    /// Kin and others of whom one speaks in the plural.
    MANY,
    "parents brothers sisters sons daughters grandparents grandchildren cousins twins kids children friends \
     flatmates roommates neighbours neighbors colleagues in-laws siblings cats dogs hens chickens rabbits"
}
list! {
    /// Kin of whom one says "he".
    HE,
    "dad father papa brother son husband boyfriend grandpa grandfather grandad granddad grandson uncle nephew \
     stepfather stepson stepbrother godfather godson landlord father-in-law brother-in-law son-in-law"
}
list! {
    /// Kin of whom one says "she".
    SHE,
    "mum mom mother mama mam sister daughter wife girlfriend fiancee fiancée grandma grandmother gran granny \
     nan granddaughter aunt auntie niece stepmother stepdaughter stepsister godmother goddaughter landlady \
     mother-in-law sister-in-law daughter-in-law"
}
list! {
    /// Kin that are called by the word itself: "Mum is here".
    CALLED,
    "mum mom mama mam dad papa grandma grandpa granny gran nan grandad"
}
list! {
    /// What may stand between "my" and kin.
    KIN_ADJECTIVES,
    "older younger elder eldest oldest youngest big little best late first second new old dear other twin \
     middle half baby next-door closest good only great"
}
list! {
    /// Animals one keeps.
    PETS,
    "dog dogs puppy cat cats kitten kittens rabbit rabbits hamster horse horses pony parrot budgie tortoise \
     turtle snake gecko lizard fish goldfish hen hens chickens goat goats sheep cow donkey ferret \
     guinea pigs bees ducks terrier spaniel labrador collie greyhound poodle beagle dachshund whippet \
     lurcher tabby beehives hives canary alpacas pet pets"
}
list! {
    /// Things of some lasting worth.
    THINGS,
    "car cars van bike bikes bicycle motorbike motorcycle scooter tandem truck tractor boat canoe kayak yacht \
     sloop dinghy caravan campervan camper house flat apartment cottage cabin farm shop bakery cafe café \
     restaurant studio workshop garden allotment orchard vineyard greenhouse shed garage land plot piano guitar \
     violin cello drum drums accordion trumpet saxophone clarinet flute banjo ukulele harp keyboard laptop \
     computer phone tablet camera telescope printer server kiln loom wheel oven stove machine tent surfboard \
     skis snowboard skateboard watch ring sofa couch bed desk table website blog podcast channel company \
     business startup collection tattoo tattoos balcony sauna pool library licence license degree phd \
     subscription membership ticket tickets season projector telly tv console drone typewriter record bookshop \
     pond patch terrace polytunnel pond moped ebike e-bike trailer telescope motorhome hammock aquarium typewriter stall"
}
list! {
    /// Things bought that are gone soon.
    CONSUMED,
    "coffee coffees tea beer beers wine drink drinks lunch dinner breakfast bread milk food pizza cake cakes \
     sandwich snack snacks ice round rounds time one it eggs butter cheese flour sugar fish chips ticket \
     tickets petrol fuel groceries stuff everything nothing something anything bottle bag pint loaf few lot \
     couple pair"
}
list! {
    /// What people do for a living.
    JOBS,
    "accountant actor actress actuary agent analyst animator anthropologist apprentice archaeologist architect \
     archivist artist astronomer attorney auditor author baker banker barber barista barrister bartender \
     beekeeper biologist bookbinder bookkeeper bookseller botanist brewer bricklayer builder butcher carer \
     caretaker carpenter cartographer cashier chef chemist cleaner clerk coach coder composer conductor \
     conservator consultant controller cook copywriter counsellor counselor courier curator dancer decorator \
     dentist designer developer dietitian director diver doctor driver ecologist economist editor electrician \
     engineer entrepreneur farmer firefighter fisherman florist forester gardener geologist glazier goldsmith \
     guide hairdresser historian housekeeper illustrator instructor interpreter janitor jeweller joiner \
     journalist judge lawyer lecturer librarian lifeguard linguist locksmith luthier machinist magistrate \
     manager masseur mathematician mechanic metalworker meteorologist microbiologist midwife miner model \
     musician nanny neurologist notary novelist nurse nutritionist optician optometrist orthodontist painter \
     paramedic pathologist pharmacist philosopher photographer physicist physio physiotherapist pianist pilot \
     plasterer plumber podiatrist poet policeman policewoman porter postdoc postman potter printer producer \
     professor programmer psychiatrist psychologist publisher radiographer radiologist ranger receptionist \
     recruiter referee reporter researcher roofer sailor saleswoman salesman scientist sculptor seamstress \
     secretary shepherd singer sociologist soldier solicitor statistician steward stonemason student surgeon \
     surveyor tailor teacher technician therapist trainee trainer translator trucker tutor undertaker \
     upholsterer vet veterinarian violinist waiter waitress watchmaker weaver welder winemaker writer \
     freelancer intern contractor administrator assistant sysadmin welder zoologist volunteer pensioner cellist \
     priest vicar pastor nun monk rabbi imam headteacher headmaster headmistress headmistress treasurer captain skipper \
     puppeteer glassblower blacksmith farrier gamekeeper grocer greengrocer fishmonger cobbler shoemaker dressmaker perfumer \
     osteopath chiropractor dermatologist cardiologist oncologist paediatrician pediatrician gynaecologist anaesthetist \
     mayor councillor diplomat detective constable inspector warden stagehand cellarer roadie bassist tattooist stuntman \
     drummer guitarist dj blogger youtuber organist bellringer stylist planner"
}
list! {
    /// Words before a job that make it a figure of speech.
    NO_JOB,
    "terrible bad good great huge big better worse slow fast awful lousy decent keen heavy light bit such real \
     total true born natural rubbish hopeless nervous careful messy wannabe failed amateur shit crap quick \
     happy proud poor"
}
list! {
    /// What somebody is, without an article.
    TRAITS,
    "blind vegetarian vegan pescatarian coeliac celiac diabetic asthmatic dyslexic colour-blind colourblind color- \
     blind colorblind left-handed right-handed pregnant married engaged divorced widowed retired deaf autistic \
     bilingual self-employed unemployed teetotal expecting adopted lactose-intolerant gluten-free epileptic \
     anaemic muslim christian catholic jewish buddhist hindu atheist halal kosher nearsighted short-sighted \
     insomniac dairy-free introverted orphaned"
}
list! {
    /// What somebody is, after "a" or "an", beside jobs.
    KINDS,
    "vegetarian vegan pescatarian introvert extrovert widow widower twin diabetic insomniac redhead methodist baptist quaker protestant lutheran presbyterian sikh mormon anglican \
     perfectionist catholic muslim buddhist christian atheist orphan grandmother grandfather grandma grandpa \
     mother father mum dad citizen homebody smoker teetotaller"
}
list! {
    /// Belonging to a country or people.
    NATIONS,
    "american argentinian australian austrian basque belgian brazilian british bulgarian canadian catalan \
     chilean chinese colombian croatian cuban czech danish dutch egyptian english estonian ethiopian filipino \
     finnish french german ghanaian greek hungarian icelandic indian indonesian iranian iraqi irish israeli \
     italian jamaican japanese kenyan korean latvian lebanese lithuanian malaysian mexican moroccan nepali \
     nigerian norwegian pakistani persian peruvian polish portuguese romanian russian scottish serbian slovak \
     slovenian spanish swedish swiss syrian taiwanese tamil thai turkish ukrainian vietnamese welsh"
}
list! {
    /// Languages whose names are no names of peoples in the list before.
    LANGUAGES,
    "arabic hindi urdu mandarin cantonese swahili yoruba igbo gaelic latin hebrew farsi esperanto bengali \
     punjabi flemish afrikaans sign twi amharic maori māori breton frisian"
}
list! {
    /// Illnesses and the like that one has.
    ILLS,
    "asthma diabetes epilepsy arthritis migraines migraine adhd dyslexia insomnia tinnitus eczema psoriasis hay \
     celiac coeliac allergy allergies anxiety depression cancer scoliosis vertigo anaemia parkinson's dementia \
     alzheimer's sciatica endometriosis gout glaucoma ibs"
}
list! {
    /// Capitalised words that are no names of people.
    NO_NAMES,
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august \
     september october november december christmas easter god work dinner lunch breakfast today tomorrow \
     yesterday tonight everyone everybody someone somebody nobody anyone people life school weather rain summer \
     winter spring autumn plan guess turns sounds looks seems ok okay lol haha wow congrats congratulations \
     thanks cheers sorry please morning evening night great nice good cool sweet home one two three four five \
     most some many half nothing everything something love step task note ps fun true update news mine yours \
     hope next last first second whoever kids parents customers guests students users doctors experts dogs cats \
     men women tea coffee music money time only other others another each neither either both who whose \
     whatever which why that this such option part half version"
}
list! {
    /// Words that mark a stretch of a sentence as not said for good, or not by the speaker.
    UNREAL,
    "if unless whether wish wishes wished imagine imagined pretend pretends pretending suppose hypothetically \
     supposedly allegedly dreamt dreamed otherwise lest maybe perhaps almost nearly practically apparently \
     rumour"
}
list! {
    /// Numbers as words.
    NUMBERS,
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen \
     eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
}
list! {
    /// What may follow a job.
    AFTER_JOB,
    "at in for with from by and on now again who of myself there here too so since to as but these until or \
     part-time anymore any"
}
list! {
    /// Fields of work.
    FIELDS,
    "marketing finance sales it tech software education healthcare publishing insurance banking construction \
     hospitality logistics retail theatre film television radio research hr accounting advertising agriculture \
     forestry design law tourism shipping customer human"
}
list! {
    /// What one runs.
    FIRMS,
    "bakery shop cafe café restaurant company business firm studio workshop team farm school choir club charity \
     startup blog podcast channel gallery clinic practice bar pub hotel hostel bookshop festival nursery garage \
     brewery vineyard department library garden band group course class orchestra magazine stall salon kitchen \
     office lab"
}
list! {
    /// After these somebody else's words follow.
    REPORTS,
    "said says say saying asked asks goes went like sang sings wrote writes thinks thought shouted called \
     titled named answered replied reads quote"
}
list! {
    /// Small words before a subject.
    FILLERS,
    "oh ah well yes yeah yep yup no nope nah so and but also actually honestly hey hi hello haha ha btw anyway \
     plus okay ok then now right sure thanks today currently mostly personally finally because although though \
     while cause cos sorry wait luckily sadly unfortunately fortunately basically lately recently nowadays \
     usually still just good great wow aww hmm um correction anyways obviously apparently meanwhile yesterday \
     morning evening cheers true exactly absolutely definitely nothing since tho lovely lol omg nope nice yay listen nah where"
}
list! {
    /// What one lives in, on or near.
    PLACES,
    "flat flats house apartment cottage cabin farm farmhouse room studio village town city suburb suburbs \
     countryside country island coast sea river mountains hills centre center street road avenue lane square \
     place home houseboat boat van caravan lighthouse bungalow mansion castle dorm hostel basement attic loft \
     floor block building harbour port beach forest woods lake valley station school university airport church \
     park neighbourhood neighborhood district quarter outskirts desert monastery bakery mill barn downtown \
     abroad north south east west care nursing shop market canal border terrace"
}
list! {
    /// Adverbs that say nothing of importance here.
    ADVERBS,
    "really absolutely totally just still actually also now currently finally recently already even definitely \
     only both all mostly mainly quite kind truly simply honestly literally officially permanently temporarily \
     secretly basically sadly happily originally personally certainly obviously clearly strongly quietly newly \
     myself particularly especially generally too somehow ever lately strictly severely seriously deeply then \
     formally suddenly very so since rather"
}

/// Numbers of people and things one counts: nobody has "one" by chance.
pub(super) fn is_number(word: &str) -> bool {
    let digits = !word.is_empty() && word.len() <= 4 && word.chars().all(|it| it.is_ascii_digit());
    let joined = word
        .split_once('-')
        .is_some_and(|(a, b)| NUMBERS.contains(a) && NUMBERS.contains(b));
    digits || joined || NUMBERS.contains(&word)
}
