import { useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Field } from '../../../shared/collections/collection.ts';
import { t } from '../../text/words.ts';
import { Form } from '../../ui/form.tsx';
import { JsonEditor } from '../../ui/json-editor.tsx';
import { KeptDraft } from '../../ui/kept-draft.tsx';
import { useUnsaved } from '../../ui/unsaved.tsx';
import { ChangesList } from './changes-list.tsx';
import { changesOf, type Draft, jsonOf, onBase, setField, textOf, typeField, typeJson } from './document-draft.ts';
import { DocumentTabs, documentTab, isSameDocument } from './document-tabs.tsx';
import { type ShownField, shownFields } from './shown-fields.ts';
import { ValueField } from './value-field.tsx';

interface Props {
  readonly draft: Draft;
  readonly onDraft: (change: (draft: Draft) => Draft) => void;
  readonly rules: readonly Field[];
  /** True for a new document: all of it is sent, otherwise only the changes. */
  readonly isNew: boolean;
  readonly act: string;
  /** Saves the draft. Errors are shown at their fields. */
  readonly onSave: () => Promise<void>;
  readonly onCancel: () => void;
}

/** The text shown for an empty field. */
const emptyText = ({ value }: Draft, { key, rules }: ShownField): string => {
  if (value[key] === null) return 'null';
  return rules?.default === undefined ? t.documents.notSet : t.documents.fallback(rules.default);
};

/** The editor of a draft, as a form by the schema or as JSON, with the changes below. */
export const DocumentEditor = ({ draft, onDraft, rules, isNew, act, onSave, onCancel }: Props) => {
  const { query } = useLocation();
  const changes = changesOf(draft);
  const isTouched = changes.length > 0 || draft.unread !== undefined || Object.keys(draft.unreadFields).length > 0;
  useUnsaved(isTouched, isSameDocument);
  const fields = shownFields(rules, draft);
  // Typing a field as JSON must not replace the editor while it is in use.
  const { current: hadFields } = useRef(fields.length > 0);
  const tab = documentTab(query, hadFields);
  return (
    <>
      <KeptDraft
        draft={draft}
        isTouched={isTouched}
        onRestore={(earlier) => onDraft((now) => onBase(earlier, now.base))}
      />
      <DocumentTabs present={tab} />
      <Form
        begins
        act={act}
        cancel={t.acts.cancel}
        onCancel={onCancel}
        onSubmit={onSave}
        ready={isNew || isTouched}
        doing={isNew ? '' : <ChangesList changes={changes} />}
      >
        {(wrong) => {
          const said = fields.map(({ key }) => wrong(key));
          return (
            <>
              {tab === 'json' ? (
                <JsonEditor
                  label={t.documents.json}
                  text={jsonOf(draft)}
                  unread={draft.unread}
                  wrong={said.filter(Boolean).join('\n') || undefined}
                  onInput={(text) => onDraft((now) => typeJson(now, text))}
                />
              ) : draft.unread === undefined ? (
                fields.map((field, at) => (
                  <ValueField
                    key={field.key}
                    field={field}
                    text={textOf(draft, field)}
                    empty={emptyText(draft, field)}
                    unread={draft.unreadFields[field.key]}
                    wrong={said[at]}
                    onType={(text) => onDraft((now) => typeField(now, field, text))}
                    onClear={() => onDraft((now) => setField(now, field.key, undefined))}
                  />
                ))
              ) : (
                <p class="note problem">{t.documents.unreadJson}</p>
              )}
              {fields.length === 0 && tab === 'form' && <p class="muted">{t.documents.noFields}</p>}
            </>
          );
        }}
      </Form>
    </>
  );
};
