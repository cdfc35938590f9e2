import { useLocation } from 'preact-iso/router';
import type { Field } from '../../../shared/collections/collection.ts';
import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { bytesText } from '../../ui/bytes.tsx';
import { JsonEditor } from '../../ui/json-editor.tsx';
import { Time } from '../../ui/time.tsx';
import { isBlank, isDate, isId } from './cell.tsx';
import { draftFrom, type JsonObject, jsonText } from './document-draft.ts';
import { DocumentTabs, documentTab } from './document-tabs.tsx';
import { RefLink } from './ref-link.tsx';
import { shownFields } from './shown-fields.ts';

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

const Value = ({ value, reference }: { readonly value: unknown; readonly reference: string | undefined }) => {
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
      {reference !== undefined && <RefLink collectionName={reference} id={text} />}
    </>
  );
};

/** A read-only view of a document: field by field, or as JSON. */
export const DocumentView = ({
  document,
  rules,
}: {
  readonly document: JsonObject;
  readonly rules: readonly Field[];
}) => {
  const { query } = useLocation();
  const fields = shownFields(rules, draftFrom(document));
  const tab = documentTab(query, fields.length > 0);
  const kept = ['createdAt', 'updatedAt'].filter((key) => key in document);
  return (
    <>
      <DocumentTabs present={tab} />
      {tab === 'json' ? (
        <JsonEditor label={t.documents.json} text={jsonText(document)} />
      ) : (
        <dl class="facts">
          {[...fields, ...kept.map((key) => ({ key, ref: undefined }))].map(({ key, ref }) => (
            <div key={key}>
              <dt class="mono">{key}</dt>
              <dd dir="auto">
                <Value value={document[key]} reference={ref} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
};
