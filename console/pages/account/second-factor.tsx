import { useSignal } from '@preact/signals';
import { type Problem, problemOf } from '../../api/problem.ts';
import { request, tellWritten } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { AppCodeField, FactorForm } from '../../ui/factor-form.tsx';
import { useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { say } from '../../ui/toast.tsx';
import { QrCode } from './qr-code.tsx';
import type { qrOutline } from './qr-outline.ts';
import { RecoveryCodes } from './recovery-codes.tsx';

/** The account and its sessions have changed. */
const changed = () => tellWritten('/api/auth');

/** The unconfirmed secret of an app, and its QR code. */
type Begun = Data<'start-developer-totp'> & ReturnType<typeof qrOutline>;

const Confirmation = ({
  begun: { secret, ...picture },
  onCodes,
  onCancel,
}: {
  readonly begun: Begun;
  readonly onCodes: (codes: readonly string[]) => void;
  readonly onCancel: () => void;
}) => {
  const { draft, set } = useDraft({ code: '' });
  const confirm = async () => {
    const { data } = await request('confirm-developer-totp', { body: draft.value });
    onCodes(data.recoveryCodes);
    changed();
  };
  return (
    <>
      <p>{t.factor.scan}</p>
      <QrCode {...picture} />
      <p>{t.factor.type}</p>
      <Snippet code={secret} label={t.factor.secret} />
      <Form act={t.factor.confirm} cancel={t.acts.cancel} onCancel={onCancel} onSubmit={confirm}>
        {() => <AppCodeField value={draft.value.code} onInput={set('code')} />}
      </Form>
    </>
  );
};

const Removal = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title={t.factor.remove} onClose={onClose}>
    <p>{t.factor.removeText}</p>
    <FactorForm
      act={t.factor.remove}
      onProof={async (body) => {
        await request('remove-developer-totp', { body });
        onClose();
        changed();
        say(t.factor.removed);
      }}
    />
  </Dialog>
);

/** Sets up an authenticator app by QR code or by typing the secret, confirms it by a code, and removes it. */
export const SecondFactor = ({ isOn }: { readonly isOn: boolean }) => {
  const begun = useSignal<Begun | undefined>(undefined);
  const codes = useSignal<readonly string[] | undefined>(undefined);
  const removing = useSignal(false);
  const problem = useSignal<Problem | undefined>(undefined);
  const begin = async () => {
    problem.value = undefined;
    try {
      const { qrOutline } = await import('./qr-outline.ts');
      const { data } = await request('start-developer-totp', {});
      begun.value = { ...data, ...qrOutline(data.uri) };
    } catch (error) {
      problem.value = problemOf(error);
    }
  };
  return (
    <section class="card stack">
      <h2>
        {t.factor.title} {isOn && <Badge kind="good">{t.factor.on}</Badge>}
      </h2>
      {codes.value ? (
        <RecoveryCodes
          codes={codes.value}
          onDone={() => {
            codes.value = undefined;
          }}
        />
      ) : begun.value ? (
        <Confirmation
          begun={begun.value}
          onCodes={(made) => {
            codes.value = made;
            begun.value = undefined;
          }}
          onCancel={() => {
            begun.value = undefined;
          }}
        />
      ) : (
        <>
          <p>{isOn ? t.factor.isOn : t.factor.why}</p>
          {problem.value && <ProblemNote problem={problem.value} />}
          <div class="row">
            <Button
              onClick={() => {
                if (isOn) removing.value = true;
                else void begin();
              }}
            >
              {isOn ? t.factor.remove : t.factor.setUp}
            </Button>
          </div>
        </>
      )}
      {removing.value && (
        <Removal
          onClose={() => {
            removing.value = false;
          }}
        />
      )}
    </section>
  );
};
