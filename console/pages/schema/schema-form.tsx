import { type Signal, useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { type FieldProblem, type Problem, problemOf } from '../../api/problem.ts';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { schema as words } from '../../text/schema.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { Button } from '../../ui/button.tsx';
import { Form } from '../../ui/form.tsx';
import { KeptDraft } from '../../ui/kept-draft.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { type Part, useSavedDraft } from '../../ui/saved-draft.ts';
import { say } from '../../ui/toast.tsx';
import { collectionOf } from '../documents/shown-fields.ts';
import { ChangeList } from './change-list.tsx';
import { ChangesFeed } from './changes-feed.tsx';
import { rowAt, rowsOf } from './editor.ts';
import { FileDialog } from './file-dialog.tsx';
import { type SchemaChange, schemaChanges } from './schema-changes.ts';
import { draftOf, type FieldDraft, renumbered, schemaOf, withSavedKeys } from './schema-draft.ts';
import { SchemaEditor } from './schema-editor.tsx';
import { TypesDialog } from './types-dialog.tsx';
import { type ListDraft, listDraftsOf, listOf, UniqueLists, uniqueFields } from './unique-lists.tsx';

type Collection = Data<'get-collection'>;

/** All that the page's one Save saves. */
interface Drafts {
  readonly fields: readonly FieldDraft[];
  readonly closed: boolean;
  readonly lists: readonly ListDraft[];
  readonly on: boolean;
  readonly partition: string;
}

const draftsOf = (collection: Collection, before: readonly FieldDraft[] = []): Drafts => ({
  fields: draftOf(collectionOf(collection).schema, before),
  closed: collection.closed === true,
  lists: listDraftsOf(collection.unique),
  on: collection.changes,
  partition: collection.partition ?? '',
});

/** Equal for equal drafts, whatever their rows are called. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (name, inner: unknown) => (name === 'id' || name === 'was' ? undefined : inner));

const listText = (lists: readonly ListDraft[]): string =>
  lists.map(({ fields }) => fields.join(', ') || '…').join('; ');

const onOff = (is: boolean): string => (is ? words.changes.yes : words.changes.no);

const changesOf = (saved: Drafts, now: Drafts): readonly SchemaChange[] => {
  const pair = (name: string, before: string, after: string): readonly SchemaChange[] =>
    before === after ? [] : [{ name, before: before || words.changes.noValue, after: after || words.changes.noValue }];
  const lists =
    textOf(saved.lists) === textOf(now.lists) ? [] : [[listText(saved.lists), listText(now.lists)] as const];
  return [
    ...schemaChanges(saved.fields, now.fields),
    ...pair(words.closed, onOff(saved.closed), onOff(now.closed)),
    ...lists.map(([before, after]) =>
      before === after
        ? { name: words.together.title, note: words.changes.changed }
        : {
            name: words.together.title,
            before: before || words.changes.noValue,
            after: after || words.changes.noValue,
          },
    ),
    ...pair(t.changes.title, onOff(saved.on), onOff(now.on)),
    ...pair(t.changes.partition, saved.partition, now.partition),
  ];
};

/** The parts of the collection that differ, as they are sent. */
const bodyOf = (saved: Drafts, now: Drafts) => {
  const differs = (...names: readonly (keyof Drafts)[]) =>
    names.some((name) => textOf(saved[name]) !== textOf(now[name]));
  return {
    ...(differs('fields') && { schema: schemaOf(now.fields) }),
    ...(differs('closed') && { closed: now.closed }),
    ...(differs('lists') && { unique: now.lists.map(listOf) }),
    ...(differs('on', 'partition') && { changes: now.on, partition: now.partition || null }),
  };
};

/** An edited draft, whose rows know the newly saved keys. */
const rebase = (draft: Drafts, saved: Drafts): Drafts => ({
  ...draft,
  fields: withSavedKeys(draft.fields, saved.fields),
});

/** Each part of the draft as a signal. */
const partsOf = (draft: Signal<Drafts>) => {
  const part = <Name extends keyof Drafts>(name: Name): Part<Drafts[Name]> => ({
    get value() {
      return draft.value[name];
    },
    set value(next) {
      draft.value = { ...draft.peek(), [name]: next };
    },
    peek: () => draft.peek()[name],
  });
  return {
    fields: part('fields'),
    closed: part('closed'),
    lists: part('lists'),
    on: part('on'),
    partition: part('partition'),
  };
};

const noErrors: readonly FieldProblem[] = [];

/** A broken rule with the documents that break it. */
interface Broken extends FieldProblem {
  readonly examples?: readonly string[];
}

const Conflict = ({
  problem,
  base,
  onForce,
}: {
  readonly problem: Problem;
  readonly base: string;
  readonly onForce: () => Promise<void>;
}) => {
  const mayForce = problem.message.includes('force');
  return (
    <>
      <ProblemNote problem={problem} />
      <ul class="stack-tight">
        {(problem.fields as readonly Broken[]).map(({ field, message, examples = [] }) => (
          <li key={`${field} ${message}`}>
            <span class="mono">{field}</span>: {message}{' '}
            {examples.map((id, place) => (
              <Fragment key={id}>
                <a href={`${base}?open=${id}`} target="_blank" rel="noreferrer">
                  {words.example(place + 1)}
                </a>{' '}
              </Fragment>
            ))}
          </li>
        ))}
      </ul>
      {mayForce ? (
        <div class="row">
          <Act onAct={onForce}>{words.force}</Act>
          <span class="small muted">{words.forceWhy}</span>
        </div>
      ) : (
        problem.fields.length > 0 && <p class="small">{words.uniqueConflict}</p>
      )}
    </>
  );
};

/** The fields, the unique combinations and the changes feed of a collection, saved together. */
export const SchemaForm = ({
  projectId,
  collection,
}: {
  readonly projectId: string;
  readonly collection: Collection;
}) => {
  const { name: collectionName } = collection;
  // Rows with the same key keep their ids.
  const rows = useRef<readonly FieldDraft[]>([]);
  const {
    draft,
    saved,
    isChanged,
    save: saveDraft,
  } = useSavedDraft(
    useMemo(() => draftsOf(collection, rows.current), [collection]),
    { textOf, rebase },
  );
  const { value: now } = draft;
  rows.current = now.fields;
  const { fields, closed, lists, on, partition } = useMemo(() => partsOf(draft), [draft]);
  const conflict = useSignal<Problem | undefined>(undefined);
  const errors = useSignal(noErrors);
  const notes = useSignal<readonly string[]>([]);
  const shown = useSignal<'types' | 'file' | undefined>(undefined);
  const save = async (force: boolean) => {
    conflict.value = undefined;
    errors.value = noErrors;
    notes.value = [];
    try {
      await saveDraft(async (sent) => {
        const body = { ...bodyOf(saved, sent), ...(force && { force }) };
        const { data, hints = [] } = await request('update-collection', { projectId, collectionName, body });
        notes.value = hints;
        say(words.saved);
        return draftsOf(data, sent.fields);
      });
    } catch (error) {
      const problem = problemOf(error);
      if (problem.code === 'SCHEMA_CONFLICT') conflict.value = problem;
      else {
        errors.value = problem.fields;
        throw error;
      }
    }
  };
  return (
    <>
      <KeptDraft
        draft={now}
        isTouched={isChanged}
        onRestore={(earlier) => {
          draft.value = { ...earlier, fields: renumbered(earlier.fields) };
        }}
      />
      <Form
        guarded
        touched={isChanged}
        ready={isChanged}
        act={t.acts.save}
        onSubmit={() => save(false)}
        doing={
          <>
            {conflict.value && (
              <Conflict
                problem={conflict.value}
                base={`/projects/${projectId}/documents/${collectionName}`}
                onForce={() => save(true)}
              />
            )}
            {notes.value.map((note) => (
              <p key={note} class="note warning" role="status">
                {note}
              </p>
            ))}
            <ChangeList changes={isChanged ? changesOf(saved, now) : []} />
          </>
        }
      >
        {(wrong) => {
          const shownRows = rowsOf(now.fields);
          for (const { field } of errors.value) if (rowAt(shownRows, field)) wrong(field);
          return (
            <>
              <div class="row">
                <h2>{words.fields}</h2>
                <span class="grow" />
                <Button
                  onClick={() => {
                    shown.value = 'file';
                  }}
                >
                  {words.file.open}
                </Button>
                <Button
                  onClick={() => {
                    shown.value = 'types';
                  }}
                >
                  {words.typescript}
                </Button>
              </div>
              <SchemaEditor
                projectId={projectId}
                self={collectionName}
                fields={fields}
                closed={closed}
                errors={errors.value}
              />
              <UniqueLists lists={lists} fields={uniqueFields(now.fields, collectionOf(collection))} wrong={wrong} />
              {collectionName !== 'users' && <ChangesFeed on={on} partition={partition} fields={now.fields} />}
            </>
          );
        }}
      </Form>
      {shown.value === 'types' && (
        <TypesDialog
          collection={collectionOf(collection)}
          fields={now.fields}
          onClose={() => {
            shown.value = undefined;
          }}
        />
      )}
      {shown.value === 'file' && (
        <FileDialog
          onAdd={(added) => {
            const names = new Set(fields.peek().map(({ key }) => key));
            const more = added.filter(({ key }) => !names.has(key));
            fields.value = [...fields.peek(), ...more];
            say(words.file.added(more.length));
          }}
          onClose={() => {
            shown.value = undefined;
          }}
        />
      )}
    </>
  );
};
