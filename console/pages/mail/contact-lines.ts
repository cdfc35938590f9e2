/** A contact as a line of text says it. */
export interface ContactLine {
  readonly line: string;
  readonly email: string;
  readonly firstName?: string;
  readonly lastName?: string;
}

/** The cells of a line of CSV, with or without quotes; also of one that was copied from a spreadsheet. */
const cellsOf = (line: string): string[] =>
  [...line.matchAll(/(?:^|[,;\t])\s*(?:"((?:[^"]|"")*)"|([^,;\t]*))/g)].map(([, quoted, plain = '']) =>
    (quoted === undefined ? plain : quoted.replaceAll('""', '"')).trim(),
  );

/** Contacts, one a line: address, first name, last name. A first line of names is left out, as are empty ones. */
export const contactLines = (text: string): readonly ContactLine[] =>
  text
    .split(/\r?\n/)
    .filter((line, at) => line.trim() !== '' && !(at === 0 && !line.includes('@') && /mail/i.test(line)))
    .map((line) => {
      const [email = '', firstName = '', lastName = ''] = cellsOf(line);
      return { line, email, ...(firstName ? { firstName } : {}), ...(lastName ? { lastName } : {}) };
    });
