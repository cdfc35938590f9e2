import { type ReadonlySignal, type Signal, useSignal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import type { FieldProblem } from '../../api/problem.ts';
import { schema as words } from '../../text/schema.ts';
import type { Part } from '../../ui/saved-draft.ts';
import { say } from '../../ui/toast.tsx';
import { changeField, insertField, moveField, placeOf, removeField } from './field-tree.ts';
import { elementsPath, type FieldDraft, newField, pathOf } from './schema-draft.ts';

type Fields = readonly FieldDraft[];

interface Row {
  readonly path: string;
  readonly field: FieldDraft;
}

const withInner = (field: FieldDraft, path: string): readonly Row[] => [
  { path, field },
  ...(field.type === 'Array' && field.items ? withInner(field.items, elementsPath(path)) : []),
  ...(field.type === 'Object' ? rowsOf(field.fields, path) : []),
];

/** All rows that are shown, with their paths in errors of the API. */
export const rowsOf = (fields: Fields, parent = ''): readonly Row[] =>
  fields.flatMap((field, place) => withInner(field, pathOf(parent, field, place)));

/** The row of a path, or the innermost row around it. `schema.price.write` and `price` are of the same row. */
export const rowAt = (rows: readonly Row[], path: string): Row | undefined => {
  const found = [path, path.replace(/^schema\./, '')].flatMap((one) =>
    rows.filter((row) => one === row.path || one.startsWith(`${row.path}.`)),
  );
  return found.toSorted((one, other) => other.path.length - one.path.length)[0];
};

/** The errors of the last save by row. A row that has been edited since has none. */
export const errorsByRow = (fields: Fields, errors: readonly FieldProblem[]): ReadonlyMap<FieldDraft, string> => {
  const rows = rowsOf(fields);
  const found = new Map<FieldDraft, string>();
  for (const { field, message } of errors) {
    const row = rowAt(rows, field);
    if (row) found.set(row.field, [found.get(row.field), message].filter(Boolean).join(' '));
  }
  return found;
};

interface Editor {
  readonly targets: readonly string[];
  readonly open: Signal<ReadonlySet<number>>;
  /** The row that receives the focus next. */
  readonly focused: Signal<number | undefined>;
  readonly dragged: Signal<number | undefined>;
  readonly errors: ReadonlySignal<ReadonlyMap<FieldDraft, string>>;
  readonly change: (id: number, changes: Partial<FieldDraft>) => void;
  readonly add: (parent: number | undefined, place: number) => void;
  readonly remove: (id: number) => void;
  readonly move: (id: number, step: 1 | -1) => void;
  readonly moveTo: (id: number, place: number) => void;
  readonly toggle: (id: number) => void;
}

const Context = createContext<Editor | undefined>(undefined);
export const EditorProvider = Context.Provider;

export const useEditor = (): Editor => {
  const editor = useContext(Context);
  if (!editor) throw new Error('There is no schema editor around this.');
  return editor;
};

/** What the rows of an editor share. */
export const useEditorOf = (
  fields: Part<Fields>,
  errors: ReadonlySignal<ReadonlyMap<FieldDraft, string>>,
  targets: readonly string[],
): Editor => {
  const open = useSignal<ReadonlySet<number>>(new Set());
  const focused = useSignal<number | undefined>(undefined);
  const dragged = useSignal<number | undefined>(undefined);
  const acts = useMemo(() => {
    const moveTo = (id: number, place: number): void => {
      fields.value = moveField(fields.peek(), id, place);
    };
    return {
      moveTo,
      move: (id: number, step: 1 | -1) => {
        const found = placeOf(fields.peek(), id);
        if (!found) return;
        moveTo(id, found.place + step);
        focused.value = id;
      },
      change: (id: number, changes: Partial<FieldDraft>) => {
        fields.value = changeField(fields.peek(), id, changes);
      },
      add: (parent: number | undefined, place: number) => {
        const field = newField();
        fields.value = insertField(fields.peek(), parent, place, field);
        focused.value = field.id;
      },
      remove: (id: number) => {
        const found = placeOf(fields.peek(), id);
        if (!found) return;
        const { parent, place, field, siblings } = found;
        fields.value = removeField(fields.peek(), id);
        focused.value = (siblings[place - 1] ?? siblings[place + 1])?.id;
        if (field.key === '') return;
        say(words.removed(field.key), () => {
          fields.value = insertField(fields.peek(), parent, place, field);
          focused.value = id;
        });
      },
      toggle: (id: number) => {
        const next = new Set(open.peek());
        if (!next.delete(id)) next.add(id);
        open.value = next;
      },
    };
  }, [fields, focused, open]);
  return { ...acts, targets, open, focused, dragged, errors };
};
