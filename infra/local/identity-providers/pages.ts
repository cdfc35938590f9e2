import { escapeHtml as escaped } from '../../../shared/mail/templates/render.ts';
import { people } from './people.ts';

const hidden = (fields: Readonly<Record<string, string>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`)
    .join('');

const page = (title: string, content: string): string =>
  `<!doctype html><meta charset="utf-8"><title>${escaped(title)}</title><h1>${escaped(title)}</h1>${content}`;

/** The page on which a person chooses an account. */
export const consentPage = (provider: string, action: string, request: Readonly<Record<string, string>>): string =>
  page(
    `Sign in with ${provider} (fake)`,
    people
      .map(
        ({ name, email }) =>
          `<form method="post" action="${escaped(action)}">${hidden({ ...request, who: email })}<button>${escaped(name)}, ${escaped(email)}</button></form>`,
      )
      .join(''),
  );

/** A page that posts a form to the app automatically (OAuth 2.0 Form Post Response Mode). */
export const formPostPage = (action: string, fields: Readonly<Record<string, string>>): string =>
  page(
    'Back to the app',
    `<form method="post" action="${escaped(action)}">${hidden(fields)}<button>Continue</button></form><script>document.forms[0].submit()</script>`,
  );
