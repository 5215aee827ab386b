//! Digests of pages, to detect changes.

use std::hash::{DefaultHasher, Hash, Hasher};

use domain::page::{FormerLine, Line, Link, Page, Section};

/// Returns a digest of a page. Equal pages have equal digests, within one process.
pub(crate) fn hash_page(page: &Page) -> u64 {
    // Destructured, so that the compiler reports new fields; floating-point fields have no `Hash`.
    let Page {
        id,
        dimension,
        title,
        summary,
        aliases,
        tags,
        sections,
        links,
        confidence,
        updated_at,
        status,
    } = page;
    let mut out = DefaultHasher::new();
    (id, dimension, title, summary, aliases, tags, updated_at, status).hash(&mut out);
    (confidence.to_bits(), sections.len()).hash(&mut out);
    sections.iter().for_each(|it| add_section(it, &mut out));
    links.iter().for_each(|it| add_link(it, &mut out));
    out.finish()
}

fn add_section(section: &Section, out: &mut DefaultHasher) {
    let Section {
        title,
        category,
        summary,
        lines,
        left_out,
        former,
        time,
        confidence,
    } = section;
    (
        title,
        category,
        summary,
        left_out,
        time,
        confidence.to_bits(),
        lines.len(),
    )
        .hash(out);
    lines.iter().for_each(|it| add_line(it, out));
    for FormerLine { known_until, line } in former {
        known_until.hash(out);
        add_line(line, out);
    }
}

fn add_line(line: &Line, out: &mut DefaultHasher) {
    let Line {
        text,
        unit,
        observed_at,
        fact,
        until,
    } = line;
    (text, unit, observed_at, fact, until).hash(out);
}

fn add_link(link: &Link, out: &mut DefaultHasher) {
    let Link {
        kind,
        page,
        title,
        weight,
    } = link;
    (kind, page, title, weight.to_bits()).hash(out);
}
