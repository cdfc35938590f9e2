import { useMemo } from 'preact/hooks';
import { cutText } from '../../../shared/core/text.ts';
import { bytesText } from '../../ui/bytes.tsx';
import { Moment, Time } from '../../ui/time.tsx';

/** Texts up to this many bytes are shown whole, as far as the line has room. */
const whole = 2048;
/** The number of characters shown of longer texts. */
const shownLength = 120;

const bytes = new TextEncoder();

export const isDate = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);

/** A text that would be invisible: empty, blank, or of characters without a shape. */
export const isBlank = (value: unknown): value is string => typeof value === 'string' && /^[\s\p{C}]*$/u.test(value);

export const isId = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{24}$/i.test(value);

const Text = ({ text }: { readonly text: string }) => {
  // A UTF-16 unit takes at most three bytes.
  const size = text.length * 3 <= whole ? 0 : bytes.encode(text).length;
  if (size <= whole) return <>{text}</>;
  return (
    <>
      <span class="badge">{bytesText(size)}</span> {cutText(text, shownLength, '…')}
    </>
  );
};

const Json = ({ value }: { readonly value: unknown }) => {
  const text = useMemo(() => JSON.stringify(value), [value]);
  return (
    <span class="mono">
      <Text text={text} />
    </span>
  );
};

/** A value that cannot serve as a name: missing, null or invisible. */
export const isNameless = (value: unknown): boolean => value === undefined || value === null || isBlank(value);

/**
 * A value of a document in one line, always as text. Long values are cut and show their size; with `ago`, a date shows
 * how long ago it was.
 */
export const Cell = ({ value, ago }: { readonly value: unknown; readonly ago?: boolean }) => {
  if (value === undefined) return <span class="muted">–</span>;
  if (isDate(value)) return ago ? <Time at={value} /> : <Moment at={value} />;
  if (isId(value)) return <span class="mono">{value}</span>;
  if (typeof value === 'string' && !isBlank(value)) return <Text text={value} />;
  if (typeof value === 'number') return <>{value}</>;
  return <Json value={value} />;
};
