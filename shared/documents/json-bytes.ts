import { BSON } from 'mongodb';
import { dayMs } from '../core/clock.ts';
import { answerPerBson } from './page-size.ts';

const { getInt32LE, getUint32LE } = BSON.onDemand.NumberUtils;
const { toUTF8 } = BSON.onDemand.ByteUtils;

/** A larger document would keep a larger buffer in memory. */
export const maxWrittenBytes = 32 * 1024;

/** Written from its start for each document; there is room for the longest JSON that so many bytes can become. */
const out = Buffer.allocUnsafe(maxWrittenBytes * answerPerBson);
let end = 0;
let isAscii = true;

/** Begins a text. */
export const beginText = (): void => {
  end = 0;
  isAscii = true;
};

/** The text that was written since it began. */
export const endText = (): string => out.toString(isAscii ? 'latin1' : 'utf8', 0, end);

/** Writes a character of ASCII. */
export const putByte = (byte: number): void => {
  out[end++] = byte;
};

const quote = 0x22;
const hexDigits = Buffer.from('0123456789abcdef');

/** What stands for a byte inside a string; nothing where it stands for itself. */
const escapes = Array.from({ length: 256 }, (_, byte) => {
  const text = JSON.stringify(String.fromCharCode(byte)).slice(1, -1);
  return byte < 0x80 && text.length > 1 ? text : '';
});
const isEscaped = Uint8Array.from(escapes, (text) => (text === '' ? 0 : 1));

/** Writes a text of ASCII. */
export const put = (text: string): void => {
  let at = end;
  for (let index = 0; index < text.length; index += 1) out[at++] = text.charCodeAt(index);
  end = at;
};

/** From here on it costs less to have a string made of the bytes, which is not looked through one by one. */
const longBytes = 200;

const putLong = (bytes: Uint8Array, from: number, to: number): void => {
  const text = JSON.stringify(toUTF8(bytes, from, to, false));
  const bytesWritten = out.write(text, end);
  if (bytesWritten > text.length) isAscii = false;
  end += bytesWritten;
};

/** Writes the string of these bytes of UTF-8. */
export const putString = (bytes: Uint8Array, from: number, to: number): void => {
  if (to - from > longBytes) {
    putLong(bytes, from, to);
    return;
  }
  let seen = 0;
  let at = end;
  out[at++] = quote;
  for (let index = from; index < to; index += 1) {
    const byte = bytes[index] as number;
    seen |= byte;
    if (isEscaped[byte] === 1) {
      end = at;
      put(escapes[byte] as string);
      at = end;
    } else out[at++] = byte;
  }
  out[at++] = quote;
  end = at;
  if (seen >= 0x80) isAscii = false;
};

/** Writes an ObjectId. */
export const putId = (bytes: Uint8Array, from: number): void => {
  let at = end;
  out[at++] = quote;
  for (let index = from; index < from + 12; index += 1) {
    const byte = bytes[index] as number;
    out[at++] = hexDigits[byte >> 4] as number;
    out[at++] = hexDigits[byte & 15] as number;
  }
  out[at++] = quote;
  end = at;
};

/** That of `2026-11-22T12:00:00.000Z`; years of more digits have a longer one, and a date that is none has no text. */
const usualLength = 24;

/** The day that was written last, with the T behind it: dates of a page lie close together. */
let known = { day: Number.NaN, text: '' };

const putDigits = (value: number, digits: number): void => {
  let left = value;
  for (let at = end + digits - 1; at >= end; at -= 1) {
    out[at] = 0x30 + (left % 10);
    left = Math.trunc(left / 10);
  }
  end += digits;
};

/** Writes a date. */
export const putDate = (bytes: Uint8Array, from: number): void => {
  const time = getInt32LE(bytes, from + 4) * 2 ** 32 + getUint32LE(bytes, from);
  const day = Math.floor(time / dayMs);
  if (day !== known.day) {
    const text = new Date(time).toJSON();
    if (text?.length !== usualLength) {
      put(JSON.stringify(text));
      return;
    }
    known = { day, text: text.slice(0, 11) };
  }
  const ms = time - day * dayMs;
  out[end++] = quote;
  put(known.text);
  putDigits(Math.trunc(ms / 3_600_000), 2);
  out[end++] = 0x3a;
  putDigits(Math.trunc(ms / 60_000) % 60, 2);
  out[end++] = 0x3a;
  putDigits(Math.trunc(ms / 1000) % 60, 2);
  out[end++] = 0x2e;
  putDigits(ms % 1000, 3);
  out[end++] = 0x5a;
  out[end++] = quote;
};

/** Writes a number; `null` where JSON has none like it. */
export const putNumber = (value: number): void => {
  if (Number.isInteger(value) && value >= 0 && value < 10) out[end++] = 0x30 + value;
  else put(Number.isFinite(value) ? String(value) : 'null');
};
