import { useSignal } from '@preact/signals';
import { Problem } from '../api/problem.ts';
import { t } from '../text/words.ts';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { Form } from './form.tsx';

interface Props {
  readonly title: string;
  readonly text: string;
  /** The name that must be typed to confirm. */
  readonly name: string;
  readonly label: string;
  readonly act: string;
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

/** Asks for confirmation of an action that cannot be undone. Its name must be typed. */
export const Confirm = ({ title, text, name, label, act, onConfirm, onClose }: Props) => {
  const typed = useSignal('');
  const confirm = async () => {
    const message = t.acts.otherName(name);
    if (typed.peek() !== name) throw new Problem(400, { message, errors: [{ field: 'name', message }] });
    await onConfirm();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <Form act={act} kind="danger" cancel={t.acts.cancel} onCancel={onClose} onSubmit={confirm}>
        {(wrong) => (
          <Field
            label={`${label}: ${name}`}
            value={typed.value}
            required
            autocomplete="off"
            wrong={wrong('name')}
            onInput={(event) => {
              typed.value = event.currentTarget.value;
            }}
          />
        )}
      </Form>
    </Dialog>
  );
};
