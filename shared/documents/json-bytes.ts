import { BSON } from 'mongodb';
import { dayMs } from '../core/clock.ts';
import { answerPerBson } from './page-size.ts';

const { getInt32LE, getUint32LE } = BSON.onDemand.NumberUtils;
const { toUTF8 } = BSON.onDemand.ByteUtils;

/** A larger document would keep a larger buffer in memory. */
export const maxWrittenBytes = 32 * 1024;

/** Memory for one text at a time, large enough for the longest JSON of so many bytes. */
const memory = Buffer.allocUnsafe(maxWrittenBytes * answerPerBson);

const quote = 0x22;
const hexDigits = Buffer.from('0123456789abcdef');

/** The escape sequence of a byte inside a string; empty if it needs none. */
const escapes = Array.from({ length: 256 }, (_, byte) => {
  const text = JSON.stringify(String.fromCharCode(byte)).slice(1, -1);
  return byte < 0x80 && text.length > 1 ? text : '';
});
const isEscaped = Uint8Array.from(escapes, (text) => (text === '' ? 0 : 1));

/** Longer strings are cheaper to decode natively than byte by byte. */
const longBytes = 200;

/** The length of `2026-11-22T12:00:00.000Z`. Years of more digits are longer, and an invalid date has no text. */
const usualLength = 24;

/** The last written day with its T: the dates of a page are often equal. */
let known = { day: Number.NaN, text: '' };

/** Writes one text at a time. All texts use the same memory, so take each before the next. */
export class JsonBytes {
  #end = 0;
  #isAscii = true;

  text(): string {
    return memory.toString(this.#isAscii ? 'latin1' : 'utf8', 0, this.#end);
  }

  /** Writes an ASCII character. */
  putByte(byte: number): void {
    memory[this.#end++] = byte;
  }

  /** Writes an ASCII text. */
  put(text: string): void {
    let at = this.#end;
    for (let index = 0; index < text.length; index += 1) memory[at++] = text.charCodeAt(index);
    this.#end = at;
  }

  #putLong(bytes: Uint8Array, from: number, to: number): void {
    const text = JSON.stringify(toUTF8(bytes, from, to, false));
    const bytesWritten = memory.write(text, this.#end);
    if (bytesWritten > text.length) this.#isAscii = false;
    this.#end += bytesWritten;
  }

  /** Writes a string of UTF-8 bytes. */
  putString(bytes: Uint8Array, from: number, to: number): void {
    if (to - from > longBytes) {
      this.#putLong(bytes, from, to);
      return;
    }
    let seen = 0;
    let at = this.#end;
    memory[at++] = quote;
    for (let index = from; index < to; index += 1) {
      const byte = bytes[index] as number;
      seen |= byte;
      if (isEscaped[byte] === 1) {
        this.#end = at;
        this.put(escapes[byte] as string);
        at = this.#end;
      } else memory[at++] = byte;
    }
    memory[at++] = quote;
    this.#end = at;
    if (seen >= 0x80) this.#isAscii = false;
  }

  putId(bytes: Uint8Array, from: number): void {
    let at = this.#end;
    memory[at++] = quote;
    for (let index = from; index < from + 12; index += 1) {
      const byte = bytes[index] as number;
      memory[at++] = hexDigits[byte >> 4] as number;
      memory[at++] = hexDigits[byte & 15] as number;
    }
    memory[at++] = quote;
    this.#end = at;
  }

  #putDigits(value: number, digits: number): void {
    let left = value;
    for (let at = this.#end + digits - 1; at >= this.#end; at -= 1) {
      memory[at] = 0x30 + (left % 10);
      left = Math.trunc(left / 10);
    }
    this.#end += digits;
  }

  putDate(bytes: Uint8Array, from: number): void {
    const time = getInt32LE(bytes, from + 4) * 2 ** 32 + getUint32LE(bytes, from);
    const day = Math.floor(time / dayMs);
    if (day !== known.day) {
      const text = new Date(time).toJSON();
      if (text?.length !== usualLength) {
        this.put(JSON.stringify(text));
        return;
      }
      known = { day, text: text.slice(0, 11) };
    }
    const ms = time - day * dayMs;
    memory[this.#end++] = quote;
    this.put(known.text);
    this.#putDigits(Math.trunc(ms / 3_600_000), 2);
    memory[this.#end++] = 0x3a;
    this.#putDigits(Math.trunc(ms / 60_000) % 60, 2);
    memory[this.#end++] = 0x3a;
    this.#putDigits(Math.trunc(ms / 1000) % 60, 2);
    memory[this.#end++] = 0x2e;
    this.#putDigits(ms % 1000, 3);
    memory[this.#end++] = 0x5a;
    memory[this.#end++] = quote;
  }

  /** Writes a number; `null` if JSON cannot express it. */
  putNumber(value: number): void {
    if (Number.isInteger(value) && value >= 0 && value < 10) memory[this.#end++] = 0x30 + value;
    else this.put(Number.isFinite(value) ? String(value) : 'null');
  }
}
