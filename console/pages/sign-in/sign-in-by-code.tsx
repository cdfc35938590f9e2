import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { EmailField } from '../../ui/account-fields.tsx';
import { Alone } from '../../ui/alone.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { enter } from './enter.ts';
import { placeAfter } from './place-after.ts';
import { SecondStep } from './second-step.tsx';

/** Sends the email, then accepts its code or link. The link needs a click, so that mail scanners do not use it up. */
export const SignInByCode = () => {
  const { query, route } = useLocation();
  const asked = useSignal(query.token !== undefined);
  const ticket = useSignal<string | undefined>(undefined);
  const { draft, set } = useDraft({ email: '', code: '' });
  const goOn = () => route(placeAfter(query.to), true);
  const ask = async () => {
    await request('send-developer-code', { body: { email: draft.value.email } });
    asked.value = true;
  };
  const submit = async () => {
    const body = query.token === undefined ? draft.value : { token: query.token };
    ticket.value = await enter(request('sign-in-developer-by-code', { body }), goOn);
  };
  if (ticket.value !== undefined) return <SecondStep ticket={ticket.value} onDone={goOn} />;
  return (
    <Alone title={t.signIn.title}>
      {asked.value ? (
        <>
          {query.token === undefined && <p>{t.reset.asked(draft.value.email)}</p>}
          <Form key="submit" act={t.signIn.act} onSubmit={submit}>
            {(wrong) =>
              query.token === undefined && (
                <Field
                  label={t.reset.code}
                  autocomplete="one-time-code"
                  required
                  value={draft.value.code}
                  onInput={set('code')}
                  wrong={wrong('code')}
                />
              )
            }
          </Form>
        </>
      ) : (
        <Form key="ask" act={t.signIn.sendCode} onSubmit={ask}>
          {(wrong) => <EmailField own value={draft.value.email} onInput={set('email')} wrong={wrong('email')} />}
        </Form>
      )}
      <p>
        <a href="/sign-in">{t.signIn.byPassword}</a>
      </p>
    </Alone>
  );
};
