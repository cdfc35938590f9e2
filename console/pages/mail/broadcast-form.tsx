import { request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { HtmlPreview } from '../../ui/html-preview.tsx';
import { KeptDraft } from '../../ui/kept-draft.tsx';
import { Select } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { leaving } from '../../ui/unsaved.tsx';
import { idOf, recordOf } from './provider.ts';

interface Props {
  readonly projectId: string;
  readonly audiences: ReadonlyMap<string, string>;
  readonly onMade: (id: string) => void;
  readonly onClose: () => void;
}

/** Creates a broadcast: a draft, or one that is scheduled. */
export const BroadcastForm = ({ projectId, audiences, onMade, onClose }: Props) => {
  const { draft, set, isTouched } = useDraft({
    audienceId: [...audiences.keys()][0] ?? '',
    subject: '',
    from: '',
    html: '',
    scheduledAt: '',
  });
  const { audienceId, subject, from, html, scheduledAt } = draft.value;
  const create = async () => {
    const { data } = await request('create-project-broadcast', {
      projectId,
      body: {
        audienceId,
        subject,
        html,
        ...(from ? { from } : {}),
        ...(scheduledAt ? { scheduledAt: new Date(scheduledAt).toISOString() } : {}),
      },
    });
    onMade(idOf(recordOf(data)));
  };
  return (
    <Dialog title={t.mail.newBroadcast} onClose={() => leaving(onClose)}>
      <KeptDraft
        draft={draft.value}
        isTouched={isTouched}
        onRestore={(earlier) => {
          draft.value = earlier;
        }}
      />
      <Form
        guarded
        touched={isTouched}
        act={t.mail.keepDraft}
        cancel={t.acts.cancel}
        onCancel={onClose}
        onSubmit={create}
      >
        {(wrong) => (
          <>
            <Select label={t.mail.audience} value={audienceId} options={[...audiences]} onInput={set('audienceId')} />
            <Field
              label={t.mail.subject}
              required
              maxLength={998}
              value={subject}
              onInput={set('subject')}
              wrong={wrong('subject')}
            />
            <Field
              label={t.settings.from}
              hint={t.mail.fromWhy}
              value={from}
              onInput={set('from')}
              wrong={wrong('from')}
            />
            <TextField label={t.mail.html} value={html} onInput={set('html')} wrong={wrong('html')} />
            <p class="small muted">{t.mail.broadcastWhy}</p>
            {html && <HtmlPreview title={t.mail.preview} html={html} />}
            <Field
              label={t.mail.sendAt}
              hint={t.mail.sendAtWhy}
              type="datetime-local"
              value={scheduledAt}
              onInput={set('scheduledAt')}
              wrong={wrong('scheduledAt')}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
};
