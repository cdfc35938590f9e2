import { cutText } from '../core/text.ts';
import { type Named, nameIn, shownName } from './file-items.ts';

/** UTF-16 units. */
const maxLength = 200;

/** Controls, line and paragraph separators, halves of characters, marks that change the direction of text. */
const invisible = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}\ufeff]/gu;

/** Cuts a long name before its ending. */
const shorten = (name: string): string => {
  if (name.length <= maxLength) return name;
  const [, stem = name, ending = ''] = /^(.+?)(\.[^.]{1,20})?$/su.exec(name) ?? [];
  return cutText(stem, maxLength - ending.length) + ending;
};

/**
 * A file's name as its owner wrote it, for people: in NFC, of at most 200 characters, without controls and marks that
 * change the direction of text; slashes are `_`. Empty if nothing of it can be seen.
 */
export const toDisplayName = (filename: string): string =>
  shorten(filename.normalize('NFC').replace(invisible, '').replace(/[/\\]/g, '_').trim()).trim();

/** Percent-encoded UTF-8, as RFC 8187 writes it. */
const encoded = (name: string): string =>
  encodeURIComponent(name).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * The `Content-Disposition` that is stored with a file (RFC 6266): an ASCII name for old clients, and the display name
 * if it is another. Browsers decide what they show; the origin of hosted files changes `inline` to `attachment`.
 */
export const dispositionOf = (filePath: string, file: Named): string => {
  const ascii = nameIn(filePath);
  const name = shownName(filePath, file);
  return `inline; filename="${ascii}"${name === ascii ? '' : `; filename*=UTF-8''${encoded(name)}`}`;
};
