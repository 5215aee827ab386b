//! Times in languages other than English; the reference is Thursday 15 June 2023, 14:30.

use crate::checks::check;

#[test]
fn times_of_other_languages_are_read() {
    check(
        "
        Nos vimos el 7 de mayo de 2023 en Lima. => 7 de mayo de 2023 = 7 May 2023
        Ayer fui al médico. => Ayer = 14 June 2023
        La semana pasada llovió. => semana pasada = The week of 5 June 2023
        Hace dos días llegó. => Hace dos días = 13 June 2023
        Am 3. Oktober 2022 war frei, gestern nicht. => 3. Oktober 2022 = 3 October 2022; gestern = 14 June 2023
        Ich bin hier und das ist gut. =>
        Vor drei Monaten habe ich gekündigt. => Vor drei Monaten = March 2023
        Je suis né le 14 juillet 1990. => 14 juillet 1990 = 14 July 1990
        Hier, j'ai vu un film. => Hier = 14 June 2023
        Il y a deux ans, nous étions à Lyon. => Il y a deux ans = 2021
        Ontem choveu; em março de 2021 também. => Ontem = 14 June 2023; março de 2021 = March 2021
        Ci vediamo domani, 2 giugno 2023. => domani = 16 June 2023; 2 giugno 2023 = 2 June 2023
        Due settimane fa ero a Roma. => Due settimane fa = The week of 29 May 2023
        我们2023年5月7日见过面,昨天也是。 => 2023年5月7日 = 7 May 2023; 昨天 = 14 June 2023
        昨日は雨でした。去年は晴れ。 => 昨日 = 14 June 2023; 去年 = 2022
        2022년 3월 1일에 만났어요. => 2022년 3월 1일에 = 1 March 2022
        ",
    );
}

/// Dutch and German both name the coming hour: "half acht" is half past seven.
#[test]
fn dutch_times_are_read() {
    check(
        "
        Eergisteren kocht ik een lamp. => Eergisteren = 13 June 2023
        Morgen ga ik naar Gent. => Morgen = 16 June 2023
        Goede morgen, hoe gaat het met jullie? =>
        Ik woon hier. =>
        We eten om half acht. => half acht = 15 June 2023 at 7:30 pm
        Ik kom morgen om half elf. => morgen om half elf = 16 June 2023 at 10:30 am
        De trein gaat om kwart over negen. => kwart over negen = 15 June 2023 at 9:15 am
        Het begint om kwart voor acht. => kwart voor acht = 15 June 2023 at 7:45 am
        De bus komt om tien over half vijf. => tien over half vijf = 15 June 2023 at 4:40 pm
        Ik vertrok om vijf voor drie. => vijf voor drie = 15 June 2023 at 2:55 pm
        We zien elkaar vrijdag om 19.30 uur. => vrijdag om 19.30 uur = 16 June 2023 at 7:30 pm
        Gisteren om acht uur 's avonds belde zij. => Gisteren om acht uur 's avonds = 14 June 2023 at 8 pm
        Ik heb acht uur geslapen. =>
        Vanavond eten we bij oma. => Vanavond = 15 June 2023
        Gisteravond heb ik een film gezien. => Gisteravond = 14 June 2023
        Vrijdagavond heb ik gedanst. => Vrijdagavond = 9 June 2023
        Twee weken geleden was ik in Gent. => Twee weken geleden = The week of 29 May 2023
        Ik heb 3 dagen geleden gebeld. => 3 dagen geleden = 12 June 2023
        Een jaar geleden woonde hij hier. => Een jaar geleden = 2022
        Ik zag haar een paar dagen geleden. => een paar dagen geleden = between 10 and 13 June 2023
        Over twee weken verhuizen we naar Leiden. => twee weken = The week of 26 June 2023
        Vorige maand kocht ik een fiets. => Vorige maand = May 2023
        Volgende week ga ik zwemmen. => Volgende week = The week of 19 June 2023
        Dit weekend gaan we zeilen. => Dit weekend = The weekend of 17 June 2023
        Afgelopen vrijdag heb ik gebakken. => vrijdag = 9 June 2023
        Ik ben op 3 mei 1990 geboren. => 3 mei 1990 = 3 May 1990
        In maart was ik in Utrecht. => maart = March 2023
        Wir essen um halb acht. => halb acht = 15 June 2023 at 7:30 pm
        Der Zug ist um Viertel nach neun hier. => Viertel nach neun = 15 June 2023 at 9:15 am
        Morgen um 8 Uhr habe ich frei. => Morgen um 8 Uhr = 16 June 2023 at 8 am
        She is half elf, over two weeks old, and he is once bitten. =>
        ",
    );
}

#[test]
fn weekdays_of_other_languages_follow_the_tense() {
    check(
        "
        Ich bin am Montag nach Graz gefahren. => Montag = 12 June 2023
        Am Montag fahre ich nach Graz. => Montag = 19 June 2023
        Ich werde am Montag nach Graz fahren. => Montag = 19 June 2023
        Am Samstag war ich in Wien. => Samstag = 10 June 2023
        Letzten Freitag habe ich den Kuchen gebacken. => Freitag = 9 June 2023
        El lunes fui al médico. => lunes = 12 June 2023
        Quedamos el viernes 23. => viernes 23 = 23 June 2023
        El lunes 12, a las ocho, fui al médico. => lunes 12 = 12 June 2023
        El lunes vienen 13 a la fiesta. => lunes = 19 June 2023
        El lunes 13 vienen a la fiesta. => lunes = 19 June 2023
        El lunes voy al médico. => lunes = 19 June 2023
        Arranco el lunes 26, y la maneja una señora que se llama Remedios. => lunes 26 = 26 June 2023
        Volví el domingo y todavía huelo a leña. => domingo = 11 June 2023
        El viernes pasado compré una bici. => viernes = 9 June 2023
        Lundi, j'ai acheté une lampe. => Lundi = 12 June 2023
        Lundi je vais à Lyon. => Lundi = 19 June 2023
        Vendredi dernier, on a mangé ensemble. => Vendredi = 9 June 2023
        Lunedì ho comprato una lampada. => Lunedì = 12 June 2023
        No sábado comprei uma bicicleta. => sábado = 10 June 2023
        Maandag heb ik een fiets gekocht. => Maandag = 12 June 2023
        Gisteren was ik in Gent. => Gisteren = 14 June 2023
        我上周五去了北京。 => 上周五 = 9 June 2023
        下个星期天我们去爬山。 => 下个星期天 = 25 June 2023
        我星期一买了一辆自行车。 => 星期一 = 12 June 2023
        我星期一去上海。 => 星期一 = 19 June 2023
        我一周一次去游泳。 =>
        先週の月曜日に行きました。 => 先週の月曜日 = 5 June 2023
        土曜日に会いましょう。 => 土曜日 = 17 June 2023
        ",
    );
}

#[test]
fn repeated_weekdays_of_other_languages_are_left_out() {
    check(
        "
        Ich gehe jeden Montag schwimmen. =>
        Los lunes voy al gimnasio. =>
        Chaque lundi je vais à Lyon. =>
        Ogni lunedì vado a Roma. =>
        Elke maandag ga ik zwemmen. =>
        Ich stehe jeden Tag um 8 Uhr auf. =>
        Elke kommt um 8 Uhr. => 8 Uhr = 15 June 2023 at 8 am
        Am Montag gehe ich schwimmen. => Montag = 19 June 2023
        ",
    );
}
