import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { request } from '../../api/request.ts';
import { developer } from '../../api/session.ts';
import { t } from '../../text/words.ts';
import { EmailField } from '../../ui/account-fields.tsx';
import { Alone } from '../../ui/alone.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';

/** The page of the link in the email. It needs a click, so that mail scanners do not use the link up. */
export const VerifyEmail = () => {
  const { query } = useLocation();
  const done = useSignal(false);
  const { draft, set } = useDraft({ email: '', otp: '' });
  const verify = async () => {
    await request('verify-developer-email', { body: query.token === undefined ? draft.value : { token: query.token } });
    done.value = true;
  };
  return (
    <Alone title={t.verify.title}>
      {done.value ? (
        <>
          <p>
            {t.verify.done} <a href="/">{t.nav.projects}</a>
          </p>
          {!developer.value && <p>{t.verify.next}</p>}
        </>
      ) : (
        <Form act={t.verify.act} onSubmit={verify}>
          {(wrong) => (
            <>
              {!developer.value && <p>{t.verify.signedOut}</p>}
              {query.token === undefined && (
                <>
                  <EmailField value={draft.value.email} onInput={set('email')} wrong={wrong('email')} />
                  <Field
                    label={t.reset.code}
                    autocomplete="one-time-code"
                    required
                    value={draft.value.otp}
                    onInput={set('otp')}
                    wrong={wrong('otp')}
                  />
                </>
              )}
            </>
          )}
        </Form>
      )}
    </Alone>
  );
};
