import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { request } from '../../api/request.ts';
import { signedOut } from '../../api/session.ts';
import { t } from '../../text/words.ts';
import { EmailField, NewPasswordField } from '../../ui/account-fields.tsx';
import { Alone } from '../../ui/alone.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { say } from '../../ui/toast.tsx';

/** Sends the email, then accepts its code or link. */
export const ResetPassword = () => {
  const { query, route } = useLocation();
  const asked = useSignal(query.token !== undefined);
  const { draft, set } = useDraft({ email: '', otp: '', newPassword: '' });
  const ask = async () => {
    await request('request-developer-reset', { body: { email: draft.value.email } });
    asked.value = true;
  };
  const reset = async () => {
    const { email, otp, newPassword } = draft.value;
    const proof = query.token === undefined ? { email, otp } : { token: query.token };
    await request('reset-developer-password', { body: { ...proof, newPassword } });
    // The reset has ended every session of the account.
    signedOut();
    say(t.reset.done);
    route('/sign-in', true);
  };
  return (
    <Alone title={t.reset.title}>
      {asked.value ? (
        <>
          {query.token === undefined && <p>{t.reset.asked(draft.value.email)}</p>}
          <Form key="reset" act={t.reset.act} onSubmit={reset}>
            {(wrong) => (
              <>
                {query.token === undefined && (
                  <Field
                    label={t.reset.code}
                    autocomplete="one-time-code"
                    required
                    value={draft.value.otp}
                    onInput={set('otp')}
                    wrong={wrong('otp')}
                  />
                )}
                <NewPasswordField
                  label={t.reset.password}
                  value={draft.value.newPassword}
                  onInput={set('newPassword')}
                  wrong={wrong('newPassword')}
                />
              </>
            )}
          </Form>
        </>
      ) : (
        <Form key="ask" act={t.reset.ask} onSubmit={ask}>
          {(wrong) => <EmailField own value={draft.value.email} onInput={set('email')} wrong={wrong('email')} />}
        </Form>
      )}
      <p>
        <a href="/sign-in">{t.signIn.title}</a>
      </p>
    </Alone>
  );
};
