//! Rows and keys: the real lock row, audit, settlements, and each node's keys.

use leptos::prelude::*;

use crate::part::badge::{Size, badge};
use crate::part::icons::Icon;
use crate::part::play::play;
use crate::stage::view::rows::{self, Cell, Sheet};

/// The tab.
#[component]
pub(super) fn Sheets() -> impl IntoView {
    let play = play();
    let sheets = Memo::new(move |_| {
        let schedule = (!play.all.get()).then(|| play.schedule.get());
        play.with(|stage| rows::sheets(stage, schedule.as_deref()))
    });
    view! {
        <div class="rk">{move || sheets.get().into_iter().map(sheet).collect_view()}</div>
        <p class="foot">
            "The newest rows of each table. One that the event under the playhead wrote is tinted. Nothing here is derived: every value was read from the store."
        </p>
    }
    .into_any()
}

fn sheet(sheet: Sheet) -> AnyView {
    let empty = sheet.rows.is_empty();
    view! {
        <div>
            <h3>{sheet.store} " " <span>{sheet.table}</span></h3>
            <table class="rows">
                <thead>
                    <tr>
                        {sheet
                            .heads
                            .into_iter()
                            .map(|(head, right)| view! { <th class=if right { "r" } else { "" }>{head}</th> })
                            .collect_view()}
                    </tr>
                </thead>
                <tbody>
                    {sheet
                        .rows
                        .into_iter()
                        .map(|(new, cells)| {
                            view! {
                                <tr class=if new { "chg" } else { "" }>{cells.into_iter().map(cell).collect_view()}</tr>
                            }
                        })
                        .collect_view()}
                </tbody>
            </table>
            {empty.then(|| view! { <p class="empty">"No row yet."</p> })}
        </div>
    }
    .into_any()
}

fn cell(cell: Cell) -> AnyView {
    let class = match (cell.harm, cell.number) {
        (true, _) => "bad b",
        (_, true) => "r num",
        _ => "",
    };
    view! {
        <td class=class>
            {cell.harm.then(|| view! { <Icon name="oct" small=true /> })}
            {cell.replica.map(|name| badge(Some(&name), Size::Small))} {cell.text}
        </td>
    }
    .into_any()
}
