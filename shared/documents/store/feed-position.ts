import { createHmac, timingSafeEqual } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { trashMs } from '../../collections/trash-conditions.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { derivedKey } from '../../projects/sealed.ts';

/** A position in the changes of a collection, from MongoDB's clock: seconds in the upper 32 bits. */
export type At = bigint;

/** How far a reader has read. Concurrent writes become visible out of order. */
export interface FeedPosition {
  /** Everything up to here was shown, and nothing will appear before it. */
  readonly after: At;
  /** Positions after it that were shown, in order. */
  readonly shown: readonly At[];
}

/** Longer than a write can take between getting its position and becoming visible. */
const lookBackSeconds = 10;
/** An older position may have missed deletions, because their tombstones are removed. */
const keptSeconds = trashMs / 1000;

/** The request line is limited. */
const maxLength = 6000;
const version = 1;
const macBytes = 16;
const headBytes = 1 + 4 + 8;

export const secondsAt = (at: At): number => Number(at >> 32n);
/** The last position before a second of the clock. */
export const before = (seconds: number): At => (BigInt(seconds) << 32n) - 1n;

/**
 * The position after showing more changes, in order. Changes far enough behind the newest one are final, unless more
 * are known to follow after `shown`.
 */
export const movedOn = ({ after, shown }: FeedPosition, places: readonly At[], more: boolean): FeedPosition => {
  const all = [...shown, ...places].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const newest = all.at(-1);
  if (newest === undefined) return { after, shown };
  const settled = before(secondsAt(newest) - lookBackSeconds);
  const last = places.at(-1) ?? after;
  const reached = more && last < settled ? last : settled;
  const from = reached > after ? reached : after;
  return { after: from, shown: all.filter((at) => at > from) };
};

const numbersOf = ({ after, shown }: FeedPosition): Buffer => {
  const bytes: number[] = [];
  let last = after;
  for (const at of shown) {
    let difference = at - last;
    last = at;
    for (; difference > 127n; difference >>= 7n) bytes.push(Number(difference & 127n) | 128);
    bytes.push(Number(difference));
  }
  return deflateRawSync(Buffer.from(bytes));
};

const shownIn = (after: At, packed: Buffer): readonly At[] => {
  const shown: At[] = [];
  let [last, difference, shift] = [after, 0n, 0n];
  for (const byte of inflateRawSync(packed)) {
    difference |= BigInt(byte & 127) << shift;
    shift += 7n;
    if (byte > 127) continue;
    last += difference;
    shown.push(last);
    [difference, shift] = [0n, 0n];
  }
  return shown;
};

/** `view` is what a position belongs to; it is invalid for anything else. */
const macOf = async (view: string, payload: Buffer): Promise<Buffer> =>
  createHmac('sha256', await derivedKey('feed positions'))
    .update(`${view}\n`)
    .update(payload)
    .digest()
    .subarray(0, macBytes);

/**
 * A signed position as text of at most 6000 characters. If too many recent changes were shown, some thousands, it
 * looks back less, so that a busy collection can go on.
 */
export const encodePosition = async (view: string, { after, shown }: FeedPosition): Promise<string> => {
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(version);
  head.writeUInt32BE(Math.floor(clock.now() / 1000), 1);
  head.writeBigUInt64BE(after, 5);
  const payload = Buffer.concat([head, numbersOf({ after, shown })]);
  if (((payload.length + macBytes) * 4) / 3 > maxLength) {
    const half = Math.ceil(shown.length / 2);
    return encodePosition(view, { after: shown[half - 1] ?? after, shown: shown.slice(half) });
  }
  return Buffer.concat([payload, await macOf(view, payload)]).toString('base64url');
};

const invalidPosition = (): AppError =>
  new AppError(
    'INVALID_POSITION',
    'since is not a position of this changes feed. Send the unchanged next of an earlier response for the same collection, user and key. Otherwise list the documents again and start without since.',
  );

/** The error of a position after which changes may be missing (410). */
const positionGone = (): AppError =>
  new AppError(
    'POSITION_GONE',
    'This position is too old: changes are kept for 30 days, and only since the feed was turned on. List the documents again and start without since.',
  );

/**
 * The position in a text from `encodePosition` for the same view. Throws 400 for any other text, 410 for a position
 * that is over 30 days old or made before the feed was ready.
 */
export const decodePosition = async (view: string, text: string, readyAt: Date): Promise<FeedPosition> => {
  const bytes = Buffer.from(/^[\w-]{1,8192}$/.test(text) ? text : '', 'base64url');
  if (bytes.length < headBytes + macBytes) throw invalidPosition();
  const payload = bytes.subarray(0, -macBytes);
  const isOurs = timingSafeEqual(await macOf(view, payload), bytes.subarray(-macBytes));
  if (!isOurs || payload[0] !== version) throw invalidPosition();
  const madeAt = payload.readUInt32BE(1);
  if (clock.now() / 1000 - madeAt > keptSeconds || madeAt < Math.floor(readyAt.getTime() / 1000)) throw positionGone();
  const after = payload.readBigUInt64BE(5);
  return { after, shown: shownIn(after, payload.subarray(headBytes)) };
};
