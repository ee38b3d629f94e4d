import { sharedRuntime } from "../../services/shared-runtime.ts";
import { allOfTheSiteIsCrawled } from "./whole-site.ts";

allOfTheSiteIsCrawled({ pages: 200, queryPages: 40 }, sharedRuntime);
