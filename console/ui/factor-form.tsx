import { useSignal } from '@preact/signals';
import type { Input } from '../api/rows.ts';
import { t } from '../text/words.ts';
import { Button } from './button.tsx';
import { Field, useDraft } from './field.tsx';
import { Form } from './form.tsx';

type Proof = Input<'remove-developer-totp'>['body'];

export const AppCodeField = ({ value, onInput }: Pick<Parameters<typeof Field>[0], 'value' | 'onInput'>) => (
  <Field
    label={t.factor.code}
    autocomplete="one-time-code"
    inputMode="numeric"
    required
    value={value}
    onInput={onInput}
  />
);

/** Asks for the second factor: an app code or a recovery code. */
export const FactorForm = ({
  act,
  onProof,
}: {
  readonly act: string;
  readonly onProof: (proof: Proof) => Promise<void>;
}) => {
  const isLost = useSignal(false);
  const { draft, set } = useDraft({ code: '', recoveryCode: '' });
  const { code, recoveryCode } = draft.value;
  return (
    <>
      <Form
        key={isLost.value ? 'recovery' : 'app'}
        act={act}
        onSubmit={() => onProof(isLost.value ? { recoveryCode } : { code })}
      >
        {() =>
          isLost.value ? (
            <Field
              label={t.factor.recoveryCode}
              autocomplete="off"
              required
              value={recoveryCode}
              onInput={set('recoveryCode')}
            />
          ) : (
            <AppCodeField value={code} onInput={set('code')} />
          )
        }
      </Form>
      <div class="row">
        <Button
          kind="plain"
          onClick={() => {
            isLost.value = !isLost.value;
          }}
        >
          {isLost.value ? t.factor.useApp : t.factor.useRecovery}
        </Button>
      </div>
    </>
  );
};
