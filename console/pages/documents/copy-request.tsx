import { service } from '../../api/service.ts';
import { t } from '../../text/words.ts';
import { toClipboard } from '../../ui/clipboard.ts';
import { Menu } from '../../ui/menu.tsx';
import { say } from '../../ui/toast.tsx';
import { codeOf, languages } from '../api/code.ts';

interface Copied {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Copies a request of the data API with the secret key, in a language. */
export const CopyRequest = ({
  request,
  label = t.acts.copy,
}: {
  readonly request: Copied;
  readonly label?: string;
}) => {
  const copy = async (language: (typeof languages)[number]) => {
    const example = { area: 'data', summary: '', access: 'secretKey', params: {}, query: {}, body: undefined };
    const place = { api: service().api, publishableKey: '' };
    const code = codeOf(language, { ...example, ...request }, place, 'secret');
    if (await toClipboard(code)) say(t.acts.copied);
  };
  return (
    <Menu title={t.documents.copyRequest} label={<>{label} ▾</>}>
      {languages.map((language) => (
        <button key={language} type="button" onClick={() => void copy(language)}>
          {t.api.languages[language]}
        </button>
      ))}
    </Menu>
  );
};
