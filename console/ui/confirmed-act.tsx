import { useSignal } from '@preact/signals';
import { t } from '../text/words.ts';
import { Button } from './button.tsx';
import { Confirm } from './confirm.tsx';

/** A button for an action that cannot be undone. The name must be typed first. */
export const ConfirmedAct = ({
  act,
  text,
  name,
  kind,
  onConfirm,
}: {
  readonly act: string;
  readonly text: string;
  readonly name: string;
  readonly kind?: 'danger' | 'plain';
  readonly onConfirm: () => Promise<void>;
}) => {
  const asking = useSignal(false);
  const close = () => {
    asking.value = false;
  };
  return (
    <>
      <Button
        {...(kind ? { kind } : {})}
        onClick={() => {
          asking.value = true;
        }}
      >
        {act}
      </Button>
      {asking.value && (
        <Confirm
          title={act}
          text={text}
          name={name}
          label={t.acts.typeText(name)}
          act={act}
          onClose={close}
          onConfirm={async () => {
            await onConfirm();
            close();
          }}
        />
      )}
    </>
  );
};
