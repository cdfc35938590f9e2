import type { ApiExample } from 'basalt:api';
import { useSignal } from '@preact/signals';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { Answer } from './answer.tsx';
import { type Answered, pasted, sendCall } from './call.ts';
import { headersOf, type Names, urlOf, type Way, wayOf } from './code.ts';
import { sampled } from './sample.ts';

const keep = (name: keyof typeof pasted.value) => (event: { readonly currentTarget: { readonly value: string } }) => {
  pasted.value = { ...pasted.value, [name]: event.currentTarget.value.trim() };
};

/** If either key works, the publishable key is used unless the reader has pasted the secret key. */
const chosenWay = ({ access }: ApiExample, way: Way): Way => {
  const { secretKey, userToken } = pasted.value;
  if (access !== 'anyKey') return way;
  if (secretKey) return 'secret';
  return userToken && way === 'publishable' ? 'user' : way;
};

/** Credentials that only their owner has: pasted here and stored nowhere. */
const Credentials = ({ access, way }: Pick<ApiExample, 'access'> & { readonly way: Way }) => (
  <>
    {(access === 'secretKey' || access === 'anyKey') && (
      <Field
        label={t.keys.secret}
        hint={way === 'secret' ? t.api.keyWhy : t.api.keyInstead}
        type="password"
        autocomplete="off"
        required={way === 'secret'}
        value={pasted.value.secretKey}
        onInput={keep('secretKey')}
      />
    )}
    {(access === 'user' || (access === 'anyKey' && way !== 'secret')) && (
      <Field
        label={t.api.userToken}
        hint={t.api.tokenWhy}
        type="password"
        autocomplete="off"
        required={way === 'user' && pasted.value.secretKey === ''}
        value={pasted.value.userToken}
        onInput={keep('userToken')}
      />
    )}
  </>
);

/** An editable request that is sent with the project's own key, and its response. */
export const RunCall = ({
  example: general,
  names,
  project,
}: {
  readonly example: ApiExample;
  readonly names: Names;
  readonly project: Data<'get-project'>;
}) => {
  const example = sampled(general, names.collection);
  const { method, access } = example;
  const way = wayOf(example, names);
  const { draft, set } = useDraft({
    path: urlOf(example, names).slice(names.api.length),
    body: example.body === undefined ? '' : JSON.stringify(example.body, null, 2),
  });
  const answered = useSignal<Answered | undefined>(undefined);
  const asking = useSignal(false);
  const send = async () => {
    answered.value = undefined;
    answered.value = await sendCall({
      method,
      url: names.api + draft.value.path,
      headers: headersOf(example, chosenWay(example, way), { ...names, ...pasted.value }),
      body: example.body === undefined ? undefined : draft.value.body,
    }).catch(() => {
      throw new Error(t.api.unreadable);
    });
    asking.value = false;
  };
  const submit = async () => {
    if (method !== 'DELETE') return send();
    asking.value = true;
    return undefined;
  };
  return (
    <div class="stack">
      <Form act={t.api.send(method)} onSubmit={submit}>
        {() => (
          <>
            <Field label={t.api.path} required pattern="/.*" value={draft.value.path} onInput={set('path')} />
            {example.body !== undefined && (
              <TextField label={t.api.body} rows={6} value={draft.value.body} onInput={set('body')} />
            )}
            <Credentials access={access} way={way} />
          </>
        )}
      </Form>
      {answered.value && <Answer answered={answered.value} project={project} />}
      {asking.value && (
        <Confirm
          title={t.api.sure}
          text={`${method} ${draft.value.path}`}
          name={method}
          label={t.api.typeMethod(method)}
          act={t.api.send(method)}
          onClose={() => {
            asking.value = false;
          }}
          onConfirm={send}
        />
      )}
    </div>
  );
};
