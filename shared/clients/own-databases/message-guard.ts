const headerBytes = 16;
const sizeBytes = 4;

/** The operation of a compressed message, which nobody may send to whom no compression was offered. */
const compressed = 2012;

/** The largest message of MongoDB's wire protocol, and the most that a reply may be. */
export const maxReplyBytes = 48_000_000;

/** The most that a server says of itself, and that may come unasked: 50 members with long names. */
export const maxUnaskedBytes = 128 * 1024;

/** Follows what one connection brings, message by message, and tells what no honest server would send. */
export class MessageGuard {
  readonly #header = Buffer.alloc(headerBytes);
  #known = 0;
  #left = 0;
  #unasked = 0;

  /**
   * True where a chunk begins a message of more than `limit` bytes, of no size that a message can have, or a compressed
   * one; or where, with those before it, more has come than may while no reply is waited for.
   */
  refuses(chunk: Buffer, limit: number, waiting: boolean): boolean {
    this.#unasked = waiting ? 0 : this.#unasked + chunk.length;
    if (this.#unasked > maxUnaskedBytes) return true;
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const skipped = Math.min(this.#left, chunk.length - at);
        this.#left -= skipped;
        at += skipped;
      } else {
        at += this.#readHeader(chunk, at);
        if (!this.#isGood(limit)) return true;
      }
    }
    return false;
  }

  #readHeader(chunk: Buffer, at: number): number {
    const read = chunk.copy(this.#header, this.#known, at);
    this.#known += read;
    return read;
  }

  /** Looks at each part of a header as soon as it is there: the driver acts on the size before it has the rest. */
  #isGood(limit: number): boolean {
    if (this.#known < sizeBytes) return true;
    const size = this.#header.readInt32LE(0);
    if (size < headerBytes || size > limit) return false;
    if (this.#known < headerBytes) return true;
    this.#known = 0;
    this.#left = size - headerBytes;
    return this.#header.readInt32LE(12) !== compressed;
  }
}
