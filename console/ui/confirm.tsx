import { useSignal } from '@preact/signals';
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
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <Form act={act} kind="danger" cancel={t.acts.cancel} onCancel={onClose} onSubmit={onConfirm}>
        {() => (
          <Field
            label={`${label}: ${name}`}
            value={typed.value}
            required
            pattern={RegExp.escape(name)}
            autocomplete="off"
            onInput={(event) => {
              typed.value = event.currentTarget.value;
            }}
          />
        )}
      </Form>
    </Dialog>
  );
};
