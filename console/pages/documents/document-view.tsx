import { useLocation } from 'preact-iso/router';
import type { Field } from '../../../shared/collections/collection.ts';
import { t } from '../../text/words.ts';
import { JsonEditor } from '../../ui/json-editor.tsx';
import { draftFrom, type JsonObject, jsonText } from './document-draft.ts';
import { DocumentTabs, documentTab } from './document-tabs.tsx';
import { idIn } from './ref-address.ts';
import { shownFields } from './shown-fields.ts';
import { Value } from './value.tsx';

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
  const referring = (target: string | undefined): readonly string[] =>
    fields.flatMap(({ key, ref }) => (ref === target ? (idIn(document[key]) ?? []) : []));
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
                <Value value={document[key]} reference={ref} ids={referring(ref)} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
};
