/** The questions that the demonstration asks of its own handbook, and the pages that answer them. */

export interface Question {
  query: string;
  /** Paths of pages that answer; one of them must be among the first results. */
  answeredBy: readonly string[];
  /** No word of it, after stemming, occurs on any page: only the meaning can find the answer. */
  sharesNoWord: boolean;
}

export const QUESTIONS: readonly Question[] = [
  {
    query: "How is a redirect recorded in the archive?",
    answeredBy: ["/concepts/redirects.html"],
    sharesNoWord: false,
  },
  {
    query: "Why do readers never see a mix of old and new pages?",
    answeredBy: ["/concepts/generations.html"],
    sharesNoWord: false,
  },
  {
    query: "What if there is an electricity outage?",
    answeredBy: ["/operations/power-loss.html"],
    sharesNoWord: true,
  },
];
