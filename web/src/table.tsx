// A list as a table; on a narrow screen each row is a card.
import type { ComponentChildren, JSX } from "preact";

import { count } from "./format";
import { t } from "./i18n";
import { Button } from "./ui";

/** Its heading, the content of its cells, and how they look. */
export type Column<Row> = [
  name: string,
  cell: (row: Row) => ComponentChildren,
  look?: {
    number?: boolean; // to the right, so that digits stand below each other
    bad?: (row: Row) => boolean; // tells of trouble
  },
];

export const number = { number: true };

function classes<Row>(row: Row, look: Column<Row>[2]): string {
  const bad = look?.bad?.(row) === true;
  return `${look?.number === true ? "number" : ""} ${bad ? "bad" : ""}`;
}

/** The first column names the row. Without rows it shows the text `none`. */
export function Table<Row>(props: {
  columns: Column<Row>[];
  rows: Row[];
  id: (row: Row, at: number) => string;
  none: string;
  more?: (() => void) | undefined;
  left?: number; // rows that `more` would show
}): JSX.Element {
  const { columns, rows, more, left } = props;
  const [first, ...others] = columns;
  if (rows.length === 0 && more === undefined) return <p>{props.none}</p>;
  return (
    <>
      {rows.length > 0 && (
        <table class="cards">
          <thead>
            <tr>
              {columns.map(([name, , look]) => (
                <th key={name} scope="col" class={look?.number === true ? "number" : ""}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={props.id(row, at)}>
                <th scope="row">{first?.[1](row)}</th>
                {others.map(([name, cell, look]) => (
                  <td key={name} data-name={name} class={classes(row, look)}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {more !== undefined && (
        <p>
          <Button onClick={more}>
            {t("more")} {left !== undefined && `(${count(left)})`}
          </Button>
        </p>
      )}
    </>
  );
}
