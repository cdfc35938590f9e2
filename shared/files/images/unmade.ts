import { clock } from '../../core/clock.ts';
import { AppError, statusOf } from '../../core/errors.ts';
import { write } from '../../persistence/table.ts';
import { type FileItem, type FileRef, fileItemKey } from '../file-items.ts';
import { VariantError } from './draw.ts';

/** For so long a picture, or a size, that could not be made is refused without another try. */
const unmadeMs = 10 * 60_000;

/** After so many sizes that took too long, no other one of the picture is tried. */
const maxTimeouts = 3;

const codes = ['NOT_AN_IMAGE', 'IMAGE_TOO_LARGE', 'SERVICE_UNAVAILABLE'] as const;

type Code = (typeof codes)[number];

interface Unmade {
  readonly code: Code;
  /** In ms since 1970. */
  readonly until: number;
}

const toUnmade = (code: string | undefined, until: number): Unmade[] => {
  const known = codes.find((one) => one === code);
  return known && until > clock.now() ? [{ code: known, until }] : [];
};

/** Single sizes that could not be made a few minutes ago. */
const unmadeSizes = ({ unmadeSizes: sizes = new Set() }: FileItem) =>
  [...sizes].flatMap((entry) => {
    const [name, until, code] = entry.split('@');
    return toUnmade(code, Number(until)).map((one) => ({ ...one, name, entry }));
  });

const errorOf = ({ code, until }: Unmade, what: string): AppError => {
  const message = `${what} could not be made a few minutes ago. Upload a picture that is smaller or can be read.`;
  const retryAfter = Math.ceil((until - clock.now()) / 1000);
  return new AppError(code, message, statusOf[code] < 500 ? {} : { retryAfter });
};

/** Throws why a size of a picture could not be made, as long as that is remembered. */
export const requireMakeable = (item: FileItem, name: string): void => {
  const [whole] = toUnmade(item.unmade, item.unmadeUntil ?? 0);
  if (whole) throw errorOf(whole, 'Sizes of this picture');
  const sizes = unmadeSizes(item);
  const own = sizes.find((size) => size.name === name);
  if (own) throw errorOf(own, 'This size');
  const [timeout, ...others] = sizes.filter(({ code }) => code === 'SERVICE_UNAVAILABLE');
  if (timeout && others.length + 1 >= maxTimeouts) throw errorOf(timeout, 'Several sizes of this picture');
};

/** Entries that a file may have; expired ones go when there would be more. */
const maxEntries = 50;

/** Remembers with the file, for all processes, that a picture cannot be made into sizes, or not into this one. */
export const rememberUnmade = async (ref: FileRef, name: string, error: AppError): Promise<void> => {
  const until = clock.now() + unmadeMs;
  const update = fileItemKey(ref);
  if (!(error instanceof VariantError)) {
    const values = { code: error.code, until };
    const change = 'SET unmade = :code, unmadeUntil = :until';
    await write({ update, change, condition: 'attribute_exists(pk)', values });
    return;
  }
  const entries = new Set([`${name}@${until}@${error.code}`]);
  const { done, item } = await write<FileItem>({
    update,
    change: 'ADD unmadeSizes :entries',
    condition: 'attribute_exists(pk) AND (attribute_not_exists(unmadeSizes) OR size(unmadeSizes) < :max)',
    values: { entries, max: maxEntries },
  });
  if (done || !item) return;
  const left = unmadeSizes(item).map(({ entry }) => entry);
  await write({
    update,
    change: 'SET unmadeSizes = :entries',
    condition: 'attribute_exists(pk)',
    values: { entries: new Set([...left.slice(-maxEntries), ...entries]) },
  });
};
