import { Time } from '../../ui/time.tsx';

/** What a table shows of a long value. */
const shownLength = 120;

const isDate = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);

/** A value of a document, in one line: always text, whatever is in it. */
export const Cell = ({ value }: { readonly value: unknown }) => {
  if (value === undefined) return <span class="muted">–</span>;
  if (isDate(value)) return <Time at={value} />;
  if (typeof value === 'string') return <>{value.slice(0, shownLength)}</>;
  if (typeof value === 'number') return <>{value}</>;
  return <span class="mono">{JSON.stringify(value).slice(0, shownLength)}</span>;
};
