// A list as a table; on a narrow screen each row is a card.
import type { ComponentChildren, JSX } from "preact";

import { count } from "./format";
import { t } from "./i18n";
import { Button } from "./ui";

/** Its heading, the content of its cells, and which of them tell of trouble. */
export type Column<Row> = [
  name: string,
  cell: (row: Row) => ComponentChildren,
  bad?: (row: Row) => boolean,
];

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
              {columns.map(([name]) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={props.id(row, at)}>
                <th scope="row">{first?.[1](row)}</th>
                {others.map(([name, cell, bad]) => (
                  <td key={name} data-name={name} class={bad?.(row) === true ? "bad" : ""}>
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
