import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { bytesText } from '../../ui/bytes.tsx';
import { Time } from '../../ui/time.tsx';
import { isBlank, isDate, isId } from './cell.tsx';
import { jsonText } from './document-draft.ts';
import { isFilePath } from './file-paths.ts';
import { FileLink } from './file-value.tsx';
import { RefLink } from './ref-link.tsx';

/** Longer texts are shown as JSON, in the editor that only draws the visible part. */
const longest = 64 * 1024;

const maxTags = 12;
const maxTagLength = 40;

/** A short list of short, different texts. */
const isTagList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= maxTags &&
  new Set(value).size === value.length &&
  value.every((tag) => typeof tag === 'string' && tag.length <= maxTagLength && !isBlank(tag) && !isId(tag));

const maxLine = 72;

/** In one line if it is short. */
const shortJson = (value: unknown): string => {
  const line = JSON.stringify(value);
  return line.length <= maxLine ? line : jsonText(value);
};

interface Props {
  readonly value: unknown;
  /** The collection that the value refers to. */
  readonly reference: string | undefined;
  /** The ids in the document that refer to it. */
  readonly ids?: readonly string[] | undefined;
}

/** A value of a document for reading. */
export const Value = ({ value, reference, ids }: Props) => {
  if (value === undefined) return <span class="muted">{t.documents.notSet}</span>;
  if (value === null || isBlank(value)) return <span class="mono muted">{JSON.stringify(value)}</span>;
  if (isDate(value))
    return (
      <>
        <span class="mono">{value}</span>{' '}
        <span class="muted">
          <Time at={value} />
        </span>
      </>
    );
  if (isFilePath(value)) return <FileLink path={value} signs />;
  if (isTagList(value))
    return (
      <span class="row">
        {value.map((tag) => (
          <Badge key={tag}>{tag}</Badge>
        ))}
      </span>
    );
  const text = typeof value === 'string' ? value : shortJson(value);
  if (text.length > longest) return <span class="muted">{t.documents.tooLong(bytesText(text.length))}</span>;
  return (
    <>
      <span class={typeof value === 'string' && reference === undefined ? 'as-typed' : 'as-typed mono'}>{text}</span>{' '}
      {reference !== undefined && <RefLink collectionName={reference} id={text} ids={ids} />}
    </>
  );
};
