import { useSignal } from '@preact/signals';
import { request } from '../../api/request.ts';
import { developer, leaveEndedSession, signedIn } from '../../api/session.ts';
import { t } from '../../text/words.ts';
import { EmailField, PasswordField } from '../../ui/account-fields.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FactorForm } from '../../ui/factor-form.tsx';
import { useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { leaving } from '../../ui/unsaved.tsx';
import { enter } from './enter.ts';
import { PasskeySignIn } from './passkey-sign-in.tsx';

const stay = () => undefined;

/** Signs in over a page whose session has ended. Everything typed stays, and waiting requests are then sent. */
export const SessionEnded = () => {
  const { draft, set } = useDraft({ email: developer.value?.email ?? '', password: '' });
  const ticket = useSignal<string | undefined>(undefined);
  const submit = async () => {
    ticket.value = await enter(request('sign-in-developer', { body: draft.value }), stay);
  };
  const { value: now } = ticket;
  return (
    <Dialog title={t.sessionEnded.title} onClose={stay}>
      <p>{t.sessionEnded.text}</p>
      {now === undefined ? (
        <>
          <Form begins act={t.signIn.act} onSubmit={submit}>
            {(wrong) => (
              <>
                <EmailField
                  own="or a passkey"
                  value={draft.value.email}
                  onInput={set('email')}
                  wrong={wrong('email')}
                />
                <PasswordField value={draft.value.password} onInput={set('password')} wrong={wrong('password')} />
              </>
            )}
          </Form>
          <PasskeySignIn onDone={stay} />
        </>
      ) : (
        <FactorForm
          act={t.signIn.act}
          onProof={async (proof) => {
            const { data } = await request('sign-in-developer-with-factor', { body: { ticket: now, ...proof } });
            signedIn(data);
          }}
        />
      )}
      <Button kind="plain" onClick={() => leaving(leaveEndedSession)}>
        {t.sessionEnded.otherWay}
      </Button>
    </Dialog>
  );
};
