import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { usersCollection } from '../../../shared/collections/names.ts';
import { rightHints } from '../../../shared/collections/schema/right-hints.ts';
import type { FieldProblem } from '../../api/problem.ts';
import { useEvery } from '../../api/query-every.ts';
import { schema as words } from '../../text/schema.ts';
import type { Part } from '../../ui/saved-draft.ts';
import { Switch } from '../../ui/switch.tsx';
import { EditorProvider, errorsByRow, rowAt, rowsOf, useEditorOf } from './editor.ts';
import { FieldList } from './field-row.tsx';
import type { FieldDraft } from './schema-draft.ts';

interface Props {
  readonly projectId: string;
  /** The name of the collection, which may not exist yet. */
  readonly self: string;
  readonly fields: Part<readonly FieldDraft[]>;
  readonly closed: Part<boolean>;
  /** The errors of the last save. */
  readonly errors: readonly FieldProblem[];
}

/** The fields of a collection, one line each. Enter adds the next one. */
export const SchemaEditor = ({ projectId, self, fields, closed, errors }: Props) => {
  const collections = useEvery('list-collections', { projectId }).data ?? [];
  const targets = [...new Set([...collections.map(({ name }) => name), ...(self === '' ? [] : [self])])];
  const given = useSignal(errors);
  given.value = errors;
  // By the rows as they were when the errors came, so that an edited row has none.
  const found = useComputed(() => errorsByRow(fields.peek(), given.value));
  const editor = useEditorOf(fields, found, targets);
  const { open, focused } = editor;
  // A rejected request names its field.
  const { field: named } = useLocation().query;
  useEffect(() => {
    const row = named === undefined ? undefined : rowAt(rowsOf(fields.peek()), named);
    if (!row) return;
    open.value = new Set([...open.peek(), row.field.id]);
    focused.value = row.field.id;
  }, [named, fields, open, focused]);
  return (
    <EditorProvider value={editor}>
      <div class="stack schema-editor">
        <FieldList fields={fields.value} parent={undefined} parentName="" inArray={false} />
        <p class="muted small">{fields.value.length === 0 ? words.none : words.keys}</p>
        {self === usersCollection &&
          rightHints(fields.value).map((hint) => (
            <p key={hint} class="note" role="status">
              {hint}
            </p>
          ))}
        <Switch
          label={words.closed}
          hint={words.closedWhy}
          on={closed.value}
          onChange={(on) => {
            closed.value = on;
          }}
        />
      </div>
    </EditorProvider>
  );
};
