import { useSignal } from '@preact/signals';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { service } from '../../api/service.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, OnceDialog } from '../../ui/dialog.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { Moment } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import type { SettingsProps } from './settings.tsx';

type KeyType = 'publishable' | 'secret';

const maxGraceHours = 168;

/** The time until which the old key works. */
const OldKey = ({ until, none }: { readonly until: number; readonly none: string }) => (
  <p role="status">
    {until <= Date.now() ? (
      none
    ) : (
      <>
        {t.keys.until}{' '}
        <strong>
          <Moment at={new Date(until).toISOString()} />
        </strong>
        .
      </>
    )}
  </p>
);

const Rotate = ({
  projectId,
  type,
  onClose,
}: {
  readonly projectId: string;
  readonly type: KeyType;
  readonly onClose: () => void;
}) => {
  const { draft, set } = useDraft({ graceHours: '24' });
  const made = useSignal<(Data<'rotate-key'> & { readonly until: number }) | undefined>(undefined);
  const graceHours = Number(draft.value.graceHours);
  const until = Date.now() + graceHours * 3_600_000;
  const submit = async () => {
    const { data } = await request('rotate-key', { projectId, body: { type, graceHours } });
    made.value = { ...data, until: Date.now() + graceHours * 3_600_000 };
  };
  const title = t.keys.rotate(t.keys[type]);
  if (made.value) {
    const { key } = made.value;
    const shown = (
      <>
        <p>{type === 'secret' ? t.keys.madeSecret : t.keys.made}</p>
        <Snippet code={key} label={t.keys[type]} />
        <OldKey until={made.value.until} none={t.keys.ended} />
      </>
    );
    return type === 'secret' ? (
      <OnceDialog title={title} kept={t.projects.kept} onKept={onClose}>
        {shown}
      </OnceDialog>
    ) : (
      <Dialog title={title} onClose={onClose}>
        {shown}
        <div class="row">
          <Button kind="main-act" onClick={onClose}>
            {t.acts.close}
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <Form act={t.keys.act} cancel={t.acts.cancel} onCancel={onClose} onSubmit={submit}>
        {(wrong) => (
          <>
            <Field
              label={t.keys.grace}
              hint={t.keys.graceWhy}
              required
              pattern="\d{1,3}"
              value={draft.value.graceHours}
              onInput={set('graceHours')}
              wrong={wrong('graceHours')}
            />
            {graceHours >= 0 && graceHours <= maxGraceHours && <OldKey until={until} none={t.keys.endsNow} />}
          </>
        )}
      </Form>
    </Dialog>
  );
};

/** The project's keys, and the keys that sign its users' tokens. */
export const Keys = ({ project: { _id: projectId, publishableKey, secretKeyHint } }: SettingsProps) => {
  const rotating = useSignal<KeyType | undefined>(undefined);
  const rotate = (type: KeyType) => (
    <Button
      onClick={() => {
        rotating.value = type;
      }}
    >
      {t.keys.rotate(t.keys[type])}
    </Button>
  );
  return (
    <div class="stack measure">
      <h2>{t.keys.api}</h2>
      <Snippet code={service().api} label={t.keys.api} />
      <h2>{t.keys.projectId}</h2>
      <Snippet code={projectId} label={t.keys.projectId} />
      <h2>{t.keys.publishable}</h2>
      <Snippet code={publishableKey} label={t.keys.publishable} />
      <div class="row">{rotate('publishable')}</div>
      <h2>{t.keys.secret}</h2>
      <p class="mono">{secretKeyHint}</p>
      <p class="muted">{t.keys.secretWhy}</p>
      <div class="row">{rotate('secret')}</div>
      <h2>{t.keys.signing}</h2>
      <p class="muted">{t.keys.signingWhy}</p>
      <div class="row">
        <Act
          onAct={async () => {
            await request('rotate-signing-key', { projectId });
            say(t.keys.signed);
          }}
        >
          {t.keys.rotate(t.keys.signing)}
        </Act>
      </div>
      {rotating.value && (
        <Rotate
          projectId={projectId}
          type={rotating.value}
          onClose={() => {
            rotating.value = undefined;
          }}
        />
      )}
    </div>
  );
};
