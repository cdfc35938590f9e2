import { useSignal } from '@preact/signals';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { Field } from '../../../shared/collections/collection.ts';
import { problemOf } from '../../api/problem.ts';
import { useQuery } from '../../api/query.ts';
import { rows } from '../../text/rows.ts';
import { t } from '../../text/words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { problemText } from '../../ui/problem-text.ts';
import { leaving, useUnsaved } from '../../ui/unsaved.tsx';
import { Wrong } from '../../ui/wrong.tsx';
import { ConflictForm } from './conflict-form.tsx';
import { changesOf, textOf, typeField } from './document-draft.ts';
import { useEditedDocument } from './edited-document.ts';
import { type ShownField, shownFields } from './shown-fields.ts';
import { ValueInput } from './value-field.tsx';

interface Props {
  readonly projectId: string;
  readonly collectionName: string;
  readonly id: string;
  readonly column: string;
  readonly rules: readonly Field[];
  /** The type of a field that neither the schema nor the document has. */
  readonly unknownType: ShownField['type'];
  /** It is saved or cancelled. */
  readonly onDone: () => void;
}

const isSameAddress = (here: URL, to: URL): boolean => here.href === to.href;

/**
 * The editor of one cell. Enter saves if the document is still the one that was read, Shift+Enter adds a line, Escape
 * cancels.
 */
export const CellEditor = ({ column, rules, unknownType, onDone, ...place }: Props) => {
  const id = useId();
  const box = useRef<HTMLSpanElement>(null);
  const { data, problem, loading } = useQuery('get-project-document', place).value;
  const { edited, acts } = useEditedDocument(place, rules, true);
  const wrong = useSignal<string | undefined>(undefined);
  const busy = useSignal(false);
  const { value: now } = edited;
  const isReady = now !== undefined;
  const isTouched =
    now !== undefined && (changesOf(now.draft).length > 0 || now.draft.unreadFields[column] !== undefined);
  useUnsaved(isTouched && !now?.theirs, isSameAddress);
  // The revision of a known but outdated document would only lead to a conflict.
  useEffect(() => {
    if (data && !loading && !busy.peek()) acts.begin(data);
  }, [data, loading]);
  useLayoutEffect(() => {
    const control = box.current?.querySelector<HTMLInputElement>('input, textarea, select');
    control?.focus();
    if (control && 'select' in control) control.select();
  }, [isReady]);
  // While the cell was being saved, its control had no focus.
  useLayoutEffect(() => {
    if (wrong.value !== undefined) box.current?.querySelector<HTMLElement>('input, textarea, select')?.focus();
  }, [wrong.value]);
  const act = async (work: () => Promise<void>) => {
    if (busy.peek()) return;
    busy.value = true;
    wrong.value = undefined;
    try {
      await work();
      if (edited.peek()?.theirs === undefined) onDone();
    } catch (error) {
      const found = problemOf(error).fields.find(({ field }) => field === column || field.startsWith(`${column}.`));
      wrong.value = found?.message ?? problemText(error);
    } finally {
      busy.value = false;
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    // The keys belong to this editor, not to the panel or the table.
    event.stopPropagation();
    if (event.key === 'Escape') {
      event.preventDefault();
      onDone();
    } else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      void act(isTouched ? acts.save : () => Promise.resolve());
    }
  };
  if (problem && !now) return <ProblemNote problem={problem} />;
  if (!now) return <span class="muted">{t.loading}</span>;
  if (now.theirs)
    return (
      <Dialog title={rows.edit.conflict} onClose={() => leaving(onDone)}>
        <ConflictForm
          conflicts={now.theirs.conflicts}
          onChoose={async (choices) => {
            await acts.settle(choices);
            if (edited.peek() === undefined) onDone();
          }}
          onCancel={() => leaving(onDone)}
        />
      </Dialog>
    );
  const field = shownFields(rules, now.draft).find(({ key }) => key === column) ?? {
    key: column,
    type: unknownType,
    required: false,
  };
  const said = now.draft.unreadFields[column] ?? wrong.value;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the control inside.
    <span
      ref={box}
      class="cell-editor"
      aria-busy={busy.value}
      // What is typed while the cell is being saved would be lost.
      inert={busy.value}
      onKeyDown={onKeyDown}
      onFocusOut={({ relatedTarget, currentTarget }) => {
        const isInside = relatedTarget instanceof Node && currentTarget.contains(relatedTarget);
        if (!isInside && relatedTarget !== null && !isTouched) onDone();
      }}
    >
      <ValueInput
        field={field}
        text={textOf(now.draft, field)}
        empty={t.documents.notSet}
        onType={(text) => {
          wrong.value = undefined;
          acts.change((draft) => typeField(draft, field, text));
        }}
        id={id}
        described={said === undefined ? undefined : `${id}-wrong`}
        invalid={said !== undefined}
        name={column}
      />
      <Wrong id={`${id}-wrong`} text={said} />
    </span>
  );
};
