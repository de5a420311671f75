"""How much text of each language XLM-R was trained on.

Source: Conneau et al. 2020, https://arxiv.org/abs/1911.02116 (the corpus CC-100, Table 6: in GiB, to one decimal)
"""

# fmt: off
CC100_GIB = {  # from the largest to the smallest; the two sizes of Burmese are told apart as the published corpus does
    "English": 300.8, "Russian": 278.0, "Indonesian": 148.3, "Vietnamese": 137.3, "Persian": 111.6, "Swedish": 85.0,
    "Ukrainian": 84.6, "Thai": 71.7, "Japanese": 69.3, "German": 66.6, "Romanian": 61.4, "Hungarian": 58.4,
    "Bulgarian": 57.5, "French": 56.8, "Finnish": 54.3, "Korean": 54.2, "Spanish": 53.3, "Portuguese": 49.1,
    "Norwegian": 49.0, "Chinese (simplified)": 46.9, "Greek": 46.9, "Danish": 45.6, "Polish": 44.6, "Hebrew": 31.6,
    "Italian": 30.2, "Dutch": 29.3, "Arabic": 28.0, "Slovak": 23.2, "Turkish": 20.9, "Croatian": 20.5, "Hindi": 20.2,
    "Chinese (traditional)": 16.6, "Czech": 16.3, "Lithuanian": 13.7, "Tamil": 12.2, "Slovenian": 10.3,
    "Catalan": 10.1, "Georgian": 9.1, "Serbian": 9.1, "Latvian": 8.8, "Malay": 8.5, "Bengali": 8.4, "Malayalam": 7.6,
    "Azerbaijani": 6.5, "Kazakh": 6.4, "Estonian": 6.1, "Urdu": 5.7, "Armenian": 5.5, "Albanian": 5.4,
    "Macedonian": 4.8, "Telugu": 4.7, "Belarusian": 4.3, "Nepali": 3.8, "Sinhala": 3.6, "Kannada": 3.3,
    "Icelandic": 3.2, "Filipino": 3.1, "Mongolian": 3.0, "Galician": 2.9, "Marathi": 2.8, "Latin": 2.5, "Basque": 2.0,
    "Gujarati": 1.9, "Burmese (Zawgyi)": 1.6, "Swahili": 1.6, "Khmer": 1.5, "Afrikaans": 1.3, "Kyrgyz": 1.2,
    "Esperanto": 0.9, "Amharic": 0.8, "Punjabi": 0.8, "Welsh": 0.8, "Pashto": 0.7, "Uzbek": 0.7, "Lao": 0.6,
    "Oriya": 0.6, "Bengali (romanized)": 0.5, "Hindi (romanized)": 0.5, "Irish": 0.5, "Urdu (romanized)": 0.5,
    "Burmese": 0.4, "Kurdish (Kurmanji)": 0.4, "Sindhi": 0.4, "Somali": 0.4, "Uyghur": 0.4, "Hausa": 0.3,
    "Sanskrit": 0.3, "Tamil (romanized)": 0.3, "Telugu (romanized)": 0.3, "Yiddish": 0.3, "Javanese": 0.2,
    "Malagasy": 0.2, "Western Frisian": 0.2, "Assamese": 0.1, "Bosnian": 0.1, "Breton": 0.1, "Oromo": 0.1,
    "Scottish Gaelic": 0.1, "Sundanese": 0.1, "Xhosa": 0.1,
}
# fmt: on
