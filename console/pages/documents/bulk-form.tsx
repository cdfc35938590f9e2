import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { type Field, systemFields } from '../../../shared/collections/collection.ts';
import { useQuery } from '../../api/query.ts';
import { inOneGo, request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { rows } from '../../text/rows.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { Select } from '../../ui/select.tsx';
import { say } from '../../ui/toast.tsx';
import { draftFrom, textOf, typeField } from './document-draft.ts';
import { type ShownField, shownFields } from './shown-fields.ts';
import { ValueInput } from './value-field.tsx';

type Many = Data<'update-project-documents'>;

interface Place {
  readonly projectId: string;
  readonly collectionName: string;
}

interface Props extends Place {
  readonly act: 'update' | 'delete';
  readonly where: Readonly<Record<string, unknown>>;
  readonly rules: readonly Field[];
  readonly fields: readonly string[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const words = rows.many;
const empty = draftFrom({});
const shownErrors = 5;

/** Fields of whole documents. A sub-field would replace those beside it. */
const settable = (rules: readonly Field[], fields: readonly string[]): readonly ShownField[] => {
  const known = shownFields(rules, empty);
  const others = fields.filter(
    (key) => !systemFields.has(key) && !key.includes('.') && !known.some((field) => field.key === key),
  );
  return [...known, ...others.map((key) => ({ key, type: 'Any' as const, required: false }))];
};

/** Only so many documents can be changed back: their old values are read in one page. */
const maxUndone = 100;

/**
 * Reads the values of a field before it is set on many documents. Returns the undo; `undefined` for too many
 * documents. The undo leaves documents that have changed the field since then.
 */
const undoOfSet = async (
  place: Place,
  where: Readonly<Record<string, unknown>>,
  key: string,
  next: unknown,
): Promise<(() => void) | undefined> => {
  // Objects and lists cannot be compared in a condition.
  if (typeof next === 'object' && next !== null) return undefined;
  const query = { where: JSON.stringify(where), fields: key, limit: maxUndone };
  const { data } = await request('list-project-documents', { ...place, query });
  if (!('items' in data) || data.items.length < data.total) return undefined;
  const byValue = Map.groupBy(data.items, (item) => JSON.stringify(item[key]));
  return () => {
    void inOneGo(async () => {
      for (const [text, items] of byValue) {
        const ids = items.map(({ _id }) => _id);
        const changes = text === undefined ? { $unset: [key] } : { [key]: JSON.parse(text) };
        const body = { where: { _id: { $in: ids }, [key]: next }, changes };
        let cursor: string | null = null;
        do {
          const call = { ...place, body: cursor === null ? body : { ...body, cursor } };
          const done: { readonly data: Data<'update-project-documents'> } = await request(
            'update-project-documents',
            call,
          );
          cursor = done.data.cursor;
        } while (cursor !== null);
      }
    });
  };
};

/** Changes or deletes many documents: how many first, then call after call, with progress. */
export const BulkForm = ({ act, where, rules, fields, onClose, onDone, ...place }: Props) => {
  const id = useId();
  const choices = settable(rules, fields);
  const key = useSignal(choices[0]?.key ?? '');
  const draft = useSignal(empty);
  const progress = useSignal<Many | undefined>(undefined);
  const stopped = useSignal(false);
  const isDone = useSignal(false);
  const query = { where: JSON.stringify(where), count: true };
  const counted = useQuery('list-project-documents', { ...place, query }).value.data;
  const total = counted && 'count' in counted ? counted.count : undefined;
  const field = choices.find((one) => one.key === key.value);
  const unread = draft.value.unreadFields[key.value];
  const next = draft.value.value[key.value] ?? null;
  const call = (cursor: string | null) => {
    const from = cursor === null ? {} : { cursor };
    return act === 'delete'
      ? request('delete-project-documents', { ...place, body: { where, ...from } })
      : request('update-project-documents', {
          ...place,
          body: { where, changes: { [key.value]: next }, ...from },
        });
  };
  const run = () =>
    inOneGo(async () => {
      let sum: Many = { matched: 0, changed: 0, more: true, cursor: null, errors: [] };
      progress.value = sum;
      let undo: (() => void) | undefined;
      try {
        if (act === 'update') undo = await undoOfSet(place, where, key.value, next);
        do {
          const { data } = await call(sum.cursor);
          sum = {
            ...data,
            matched: sum.matched + data.matched,
            changed: sum.changed + data.changed,
            errors: [...sum.errors, ...data.errors],
          };
          progress.value = sum;
        } while (sum.cursor !== null && !stopped.peek());
      } catch (error) {
        if (sum.matched === 0) progress.value = undefined;
        else isDone.value = true;
        throw error;
      }
      isDone.value = true;
      if (sum.errors.length > 0 || sum.cursor !== null) return;
      say(words.done[act](sum.changed), undo);
      onDone();
    });
  const { value: sum } = progress;
  return (
    <Dialog title={words.title[act]} onClose={sum && !isDone.value ? () => undefined : sum ? onDone : onClose}>
      {sum ? (
        <>
          <progress value={sum.matched} max={Math.max(total ?? 0, sum.matched, 1)} aria-label={words.progress} />
          <p role="status">{words.done[act](sum.changed)}</p>
          {sum.errors.length > 0 && (
            <div class="note problem" role="alert">
              <p>{words.errors(sum.errors.length)}</p>
              <ul>
                {sum.errors.slice(0, shownErrors).map((error) => (
                  <li key={error.id}>
                    <span class="mono">{error.id}</span>: {error.message}
                  </li>
                ))}
              </ul>
            </div>
          )}
          <div class="row">
            {isDone.value ? (
              <Button onClick={onDone}>{t.acts.close}</Button>
            ) : (
              <Button
                disabled={stopped.value}
                onClick={() => {
                  stopped.value = true;
                }}
              >
                {words.stop}
              </Button>
            )}
          </div>
        </>
      ) : (
        <Form
          act={words.confirm[act](total)}
          cancel={t.acts.cancel}
          onCancel={onClose}
          onSubmit={async () => {
            if (unread !== undefined) throw new Error(unread);
            await run();
          }}
          // Nothing is set to null before a value was chosen.
          ready={total !== undefined && total > 0 && (act === 'delete' || key.value in draft.value.typed)}
        >
          {() =>
            act === 'delete' ? (
              <p>{words.trash}</p>
            ) : (
              <>
                <Select
                  label={t.documents.field}
                  value={key.value}
                  options={choices.map((one) => [one.key, one.key])}
                  onInput={({ currentTarget: { value } }) => {
                    key.value = value;
                    draft.value = empty;
                  }}
                />
                {field && (
                  <div class="field">
                    <label for={id}>{t.documents.value}</label>
                    <ValueInput
                      field={field}
                      text={textOf(draft.value, field)}
                      empty={field.required ? '' : 'null'}
                      onType={(text) => {
                        draft.value = typeField(draft.peek(), field, text);
                      }}
                      id={id}
                      described={`${id}-hint`}
                      invalid={unread !== undefined}
                    />
                    <span id={`${id}-hint`} class="hint small">
                      {unread ?? words.value(field.type)}
                    </span>
                  </div>
                )}
              </>
            )
          }
        </Form>
      )}
    </Dialog>
  );
};
