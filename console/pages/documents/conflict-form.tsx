import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { t } from '../../text/words.ts';
import { Form } from '../../ui/form.tsx';
import { useUnsaved } from '../../ui/unsaved.tsx';
import { Cell } from './cell.tsx';
import { type Choice, type Conflict, choiceOf } from './document-conflict.ts';
import { isSameDocument } from './document-tabs.tsx';

interface Props {
  readonly conflicts: readonly Conflict[];
  readonly onChoose: (choices: Readonly<Record<string, Choice>>) => Promise<void>;
  readonly onCancel: () => void;
}

const sides = ['mine', 'theirs'] as const;

/** Both versions of a document that someone else has saved in the meantime, field by field, to choose from. */
export const ConflictForm = ({ conflicts, onChoose, onCancel }: Props) => {
  const id = useId();
  const choices = useSignal<Readonly<Record<string, Choice>>>({});
  useUnsaved(true, isSameDocument);
  return (
    <>
      <p class="note problem" role="alert">
        {t.conflict.text}
      </p>
      <Form
        begins
        act={t.acts.save}
        cancel={t.acts.cancel}
        onCancel={onCancel}
        onSubmit={() => onChoose(choices.peek())}
        ready={conflicts.every((conflict) => choiceOf(conflict, choices.value) !== undefined)}
        doing={<p class="muted small">{t.conflict.choose}</p>}
      >
        {() =>
          conflicts.map((conflict) => (
            <fieldset key={conflict.key} class="conflict">
              <legend>
                <span class="mono">{conflict.key}</span>{' '}
                <span class="muted small">{t.conflict.changedBy[conflict.changedBy]}</span>
              </legend>
              {sides.map((side) => (
                <label key={side}>
                  <input
                    type="radio"
                    name={`${id}-${conflict.key}`}
                    checked={choiceOf(conflict, choices.value) === side}
                    onChange={() => {
                      choices.value = { ...choices.peek(), [conflict.key]: side };
                    }}
                  />
                  <span>{t.conflict.sides[side]}</span>
                  <span class="conflict-value">
                    <Cell value={conflict[side]} />
                  </span>
                </label>
              ))}
            </fieldset>
          ))
        }
      </Form>
    </>
  );
};
