import type { ApiExample } from 'basalt:api';
import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import type { Data } from '../../api/rows.ts';
import { viewAs } from '../../text/view-as.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Select } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { Answer } from './answer.tsx';
import { type Answered, pasted, sendCall } from './call.ts';
import { headersOf, type Names, takesRefreshToken, urlOf, type Way } from './code.ts';
import { sampled } from './sample.ts';
import { wayOf } from './way.ts';

const keep = (name: keyof typeof pasted.value) => (event: { readonly currentTarget: { readonly value: string } }) => {
  pasted.value = { ...pasted.value, [name]: event.currentTarget.value.trim() };
};

const callers = ['publishable', 'user', 'secret'] as const;

/** If either key works, the reader chooses the caller. Otherwise the least privileged caller is used. */
const chosenWay = ({ access }: ApiExample, way: Way, as: string | undefined): Way =>
  (access === 'anyKey' && callers.find((caller) => caller === as)) || way;

/** Credentials that only their owner has: pasted here and stored nowhere. */
const Credentials = ({ example, way }: { readonly example: ApiExample; readonly way: Way }) => (
  <>
    {takesRefreshToken(example) && (
      <Field
        label={t.api.refreshToken}
        hint={t.api.tokenWhy}
        type="password"
        autocomplete="off"
        required
        value={pasted.value.refreshToken}
        onInput={keep('refreshToken')}
      />
    )}
    {way === 'secret' && (
      <Field
        label={t.keys.secret}
        hint={t.api.keyWhy}
        type="password"
        autocomplete="off"
        required
        value={pasted.value.secretKey}
        onInput={keep('secretKey')}
      />
    )}
    {way === 'user' && (
      <Field
        label={t.api.userToken}
        hint={t.api.tokenWhy}
        type="password"
        autocomplete="off"
        required
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
  const example = sampled(general, names);
  const { method } = example;
  const { path, query, route } = useLocation();
  const way = chosenWay(example, wayOf(example, names), query.as);
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
      headers: headersOf(example, way, { ...names, ...pasted.value }),
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
            {example.access === 'anyKey' && (
              <Select
                label={viewAs.sendAs}
                value={way}
                options={callers.map((caller) => [caller, viewAs.ways[caller]])}
                onInput={({ currentTarget }) => route(addressWith(path, query, { as: currentTarget.value }), true)}
              />
            )}
            <Credentials example={example} way={way} />
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
